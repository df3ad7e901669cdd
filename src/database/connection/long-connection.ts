// A connection outside the pool, for long statements that cannot run in a transaction, such as CREATE INDEX
// CONCURRENTLY. Its time limits are sent with the login and not set by SET, because behind a transaction pooler SET
// would affect other clients.
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
 * Opens a connection with the pool's settings, but without a statement timeout. If the server refuses a login with time
 * limits, as pgbouncer does, the role's default time limits apply. The caller ends the connection.
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
  // pg makes `password` non-enumerable, so `...pool.options` lacks the password.
  const { password } = pool.options;
  const config = { ...pool.options, application_name };
  const client = new Client(password === undefined ? config : { ...config, password });
  const settings = loginSettingsOf(client);
  // pg's own time limits would override `limits`. The zeros are set here, because a connection URL overrides `config`.
  Object.assign(settings, { statement_timeout: 0, lock_timeout: 0, query_timeout: 0 });
  if (limits !== undefined) settings.options = `${settings.options ?? ""} ${limits}`;
  // Without a listener, the loss of the connection would end the process.
  client.on("error", () => {});
  await client.connect();
  return client;
}
