// A connection outside the pool, for a statement that takes minutes and must not be in a transaction. Its time limits
// are sent with the login: behind a transaction pooler, SET would affect later clients of the same server connection.
import type pg from "pg";
import { codeOf } from "../../base/errors.ts";
import { Client } from "./client.ts";

export interface LongConnectionLimits {
  /** PostgreSQL's lock_timeout, in milliseconds. */
  readonly lockTimeoutMs: number;
  readonly applicationName: string;
}

const UNSUPPORTED = "08P01";

/**
 * Connects as the pool does, but without a statement timeout, unless the pool's configuration has one. pgbouncer does
 * not accept these settings, so behind it the role's own limits apply. The caller ends the connection.
 */
export async function longConnection(
  pool: pg.Pool,
  { lockTimeoutMs, applicationName }: LongConnectionLimits,
): Promise<pg.Client> {
  // pg makes the password non-enumerable, so it is copied separately.
  const { password, options } = pool.options;
  const config = { ...pool.options, application_name: applicationName };
  const plain = password === undefined ? config : { ...config, password };
  const limits = `-c statement_timeout=0 -c lock_timeout=${Math.trunc(lockTimeoutMs)}`;
  try {
    return await connect({
      ...plain,
      options: options === undefined ? limits : `${options} ${limits}`,
    });
  } catch (error) {
    if (codeOf(error) !== UNSUPPORTED) throw error;
    return connect(plain);
  }
}

async function connect(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new Client(config);
  // A lost connection already fails the running statement; without a listener the event would end the process.
  client.on("error", () => {});
  await client.connect();
  return client;
}
