// Facts about the server and this session: the server's version, the database, the role, when the server was started,
// and whether writes are accepted.
import { type Database, query, type Statement } from "../database.ts";
import { TAKES_NO_WRITES } from "./read-only-server.ts";
import { utcText } from "./utc-text.ts";

/** The members have the same names as in the HTTP API, which returns the record unchanged. */
export interface ServerFacts {
  readonly version: string;
  readonly database: string;
  readonly role: string;
  readonly is_standby: boolean;
  /** Whether new transactions are read-only: the server is a standby, or default_transaction_read_only is on. */
  readonly is_read_only: boolean;
  readonly started_at: string;
  readonly now: string;
}

export async function readServerFacts(db: Database): Promise<ServerFacts | null> {
  const [row] = await query<ServerFacts & Record<string, unknown>>(db, factsSql);
  return row ?? null;
}

const factsSql: Statement = () => `
  select
    pg_catalog.current_setting('server_version') as version,
    pg_catalog.current_database()::text as database,
    current_user::text as role,
    pg_catalog.pg_is_in_recovery() as is_standby,
    ${TAKES_NO_WRITES} as is_read_only,
    ${utcText("pg_catalog.pg_postmaster_start_time()")} as started_at,
    ${utcText("pg_catalog.now()")} as now`;
