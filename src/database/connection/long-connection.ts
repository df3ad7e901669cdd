// A connection beside the pool's for one statement that takes minutes and cannot stand in a
// transaction. Its time limits go with the login: SET would reach other clients behind a transaction
// pooler, which gives its server connections to whoever is next.
import type pg from "pg";
import { codeOf } from "../../base/errors.ts";
import { Client } from "./client.ts";

export interface LongConnectionLimits {
  /** PostgreSQL's lock_timeout. */
  readonly lockTimeoutMs: number;
  readonly applicationName: string;
}

const UNSUPPORTED = "08P01";

/**
 * Connects as the pool does, without a statement timeout. Behind pgbouncer, which takes no such
 * settings, the role's own limits hold. The caller ends it.
 */
export async function longConnection(
  pool: pg.Pool,
  { lockTimeoutMs, applicationName }: LongConnectionLimits,
): Promise<pg.Client> {
  // pg hides the password from spreading.
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
  // Its loss is told to the statement under way; the event would end the process.
  client.on("error", () => {});
  await client.connect();
  return client;
}
