// Creates a worker's own pool, if its options have none, and the WorkerUtils that use the worker's pool.
import type pg from "pg";
import { createPool } from "../database/connection/pool.ts";
import type { Job } from "../domain/job.ts";
import { bindUtils, type WorkerUtils } from "../utils/worker-utils.ts";
import type { WorkerConfig } from "./options/worker-options.ts";
import { beforeAdd } from "./task/call-interceptors.ts";
import type { Hooks } from "./task/hooks.ts";

export function ownPool<E>(config: WorkerConfig<E>): pg.Pool {
  return createPool({
    connectionString: config.connectionString ?? "",
    maxConnections: config.maxConnections,
    applicationName: "worker",
    logger: config.logger,
  });
}

/**
 * The time limit of each statement of addJob() and addJobs() of utilsOf(), in milliseconds. Without it, a task that
 * adds a job on a connection that was cut without notice would wait until the operating system closes the connection.
 * The jobs that follow the task's job in its named queue would have to wait, too.
 */
const ADDS_WITHIN_MS = 20_000;

/** Returns WorkerUtils on `pool` that call the worker's interceptors before an add. end() does not end the pool. */
export function utilsOf<E>(
  { schema, preparedStatements, logger }: WorkerConfig<E>,
  pool: pg.Pool,
  hooks: Hooks,
): WorkerUtils<Job | null> {
  const database = { client: pool, schema, preparedStatements, addTimeoutMs: ADDS_WITHIN_MS };
  return bindUtils(database, { pool, logger, before: beforeAdd(hooks), end: async () => {} });
}
