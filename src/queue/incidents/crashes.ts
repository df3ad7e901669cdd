// Workers whose jobs have been recovered from them, as long as their rows are there; and the reasons that
// were given where jobs were failed by hand.
import { type Database, query, type Statement } from "../../database/database.ts";
import { errorLabel } from "../../domain/error-group.ts";
import { hasOperations } from "../audit/has-operations.ts";
import { reportedWorkers } from "../sql/unpacked.ts";

export interface Crash {
  readonly workerId: string;
  readonly recoveredMs: number;
}

const MOST_CRASHES = 100;
const MOST_REASONS = 1_000;

const crashesSql: Statement = (s) => `
  select id, pg_catalog.left(metadata ->> 'recovered_at'::text, 64) as recovered_at
  from ${reportedWorkers(s)} as workers
  where metadata ? 'recovered_at'::text
  order by last_heartbeat_at desc limit ${MOST_CRASHES}`;

/** The latest of them. */
export async function readCrashes(db: Database, hasWorkers: boolean): Promise<Crash[]> {
  if (!hasWorkers) return [];
  const rows = await query<{ id: string; recovered_at: string }>(db, crashesSql);
  return rows
    .map((row) => ({ workerId: row.id, recoveredMs: Date.parse(row.recovered_at) }))
    .filter(({ recoveredMs }) => !Number.isNaN(recoveredMs));
}

const reasonsSql: Statement = (s) => `
  select distinct changes ->> 'reason'::text as reason
  from (
    select changes from ${s}._private_operations
    where action = 'fail'::text order by id desc limit ${MOST_REASONS}
  ) as failed
  where changes ->> 'reason'::text is not null`;

/** The labels of the errors that they left. */
export async function readReasons(db: Database): Promise<ReadonlySet<string>> {
  if (!(await hasOperations(db))) return new Set();
  const rows = await query<{ reason: string }>(db, reasonsSql);
  return new Set(rows.map(({ reason }) => errorLabel(reason)));
}
