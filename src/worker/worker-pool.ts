// The pool that a worker makes where it is lent none, and the queue's operations on either.
import type pg from "pg";
import { createPool } from "../database/connection/pool.ts";
import type { Job } from "../domain/job.ts";
import { bindUtils, type WorkerUtils } from "../utils/worker-utils.ts";
import type { WorkerConfig } from "./options/worker-options.ts";
import type { Hooks } from "./task/hooks.ts";
import { beforeAdd } from "./task/schedule-interceptors.ts";

export function ownPool<E>(config: WorkerConfig<E>): pg.Pool {
  return createPool({
    connectionString: config.connectionString ?? "",
    maxConnections: config.maxConnections,
    applicationName: "worker",
    logger: config.logger,
  });
}

/**
 * A task that adds a job waits no longer for the answer: without a bound, a connection that was cut off without a
 * word kept the job, and all that are behind it in its queue, for as long as the system keeps the connection.
 */
const ADDS_WITHIN_MS = 20_000;

/** Through the worker's interceptors; what has no pool of its own, it does not end. */
export function utilsOf<E>(
  { schema, preparedStatements, logger }: WorkerConfig<E>,
  pool: pg.Pool,
  hooks: Hooks,
): WorkerUtils<Job | null> {
  const database = { client: pool, schema, preparedStatements, addTimeoutMs: ADDS_WITHIN_MS };
  return bindUtils(database, { pool, logger, before: beforeAdd(hooks), end: async () => {} });
}
