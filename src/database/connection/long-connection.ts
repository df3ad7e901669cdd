// A connection outside the pool, for long statements that cannot run in a transaction, such as CREATE INDEX
// CONCURRENTLY. Its time limits are sent with the login: behind a transaction pooler, SET would affect other clients.
import type pg from "pg";
import { codeOf } from "../../base/errors.ts";
import { loginSettingsOf } from "../pg-internals.ts";
import { Client } from "./client.ts";

export interface LongConnectionLimits {
  /** PostgreSQL's lock_timeout, in milliseconds. */
  readonly lockTimeoutMs: number;
  readonly applicationName: string;
}

const UNSUPPORTED = "08P01";

/**
 * Connects as the pool does, but with no statement timeout and with `lockTimeoutMs`. If a login with time limits is
 * refused, as by pgbouncer, connects without them; the limits of the role apply. The caller ends the connection.
 */
export async function longConnection(
  pool: pg.Pool,
  { lockTimeoutMs, applicationName }: LongConnectionLimits,
): Promise<pg.Client> {
  const limits = `-c statement_timeout=0 -c lock_timeout=${Math.trunc(lockTimeoutMs)}`;
  try {
    return await connect(pool, applicationName, limits);
  } catch (error) {
    if (codeOf(error) !== UNSUPPORTED) throw error;
    return connect(pool, applicationName);
  }
}

async function connect(
  pool: pg.Pool,
  application_name: string,
  limits?: string,
): Promise<pg.Client> {
  // pg makes the password non-enumerable, so it is copied separately.
  const { password } = pool.options;
  const config = { ...pool.options, application_name };
  const client = new Client(password === undefined ? config : { ...config, password });
  const settings = loginSettingsOf(client);
  // The pool's limits are removed here and not in `config`, because a URL overrides `config`. pg does not send a limit
  // of 0. It would send any other limit, which would override the one in `options`.
  Object.assign(settings, { statement_timeout: 0, lock_timeout: 0, query_timeout: 0 });
  if (limits !== undefined) settings.options = `${settings.options ?? ""} ${limits}`;
  // A lost connection rejects the running statement. Without a listener, its event `error` would end the process.
  client.on("error", () => {});
  await client.connect();
  return client;
}
