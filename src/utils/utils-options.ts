// The options of makeWorkerUtils().
import type { Pool } from "pg";
import * as v from "valibot";
import { isLogger, type Logger, loggerProblem } from "../base/logger.ts";
import { strict } from "../base/validate.ts";
import type { Queryable } from "../database/database.ts";

/** Options of makeWorkerUtils(). Exactly one of `pool` and `connectionString` is required. */
export interface WorkerUtilsOptions {
  /** Your own pool. The library never ends it. */
  readonly pool?: Pool | undefined;
  /**
   * The database's URL, `postgres://user:password@host:port/database`. makeWorkerUtils() creates a pool for this URL,
   * and `end()` ends that pool.
   */
  readonly connectionString?: string | undefined;
  /** The schema of the queue. Default `worker`. Graphile Worker's default is `graphile_worker`. */
  readonly schema?: string | undefined;
  /** The maximum number of connections of the pool for `connectionString`, 1–1,000. Default 5. */
  readonly maxConnections?: number | undefined;
  /** Whether statements are prepared. Must be false behind a transaction pooler such as pgbouncer. Default true. */
  readonly preparedStatements?: boolean | undefined;
  /** The logger. Default: silent. */
  readonly logger?: Logger | undefined;
}

/** Checks WorkerUtilsOptions. */
export const optionsSchema = v.pipe(
  strict({
    pool: v.optional(v.custom<Pool>(isQueryable, "must be a pg Pool")),
    connectionString: v.optional(v.string("must be a string")),
    schema: v.optional(v.string("must be a string")),
    maxConnections: v.optional(
      v.pipe(
        v.number("must be a number"),
        v.check(
          (value) => Number.isInteger(value) && value >= 1 && value <= 1_000,
          "must be 1–1000",
        ),
      ),
    ),
    preparedStatements: v.optional(v.boolean("must be true or false"), true),
    logger: v.optional(v.custom<Logger>(isLogger, ({ input }) => loggerProblem(input))),
  }),
  v.check(
    ({ pool, connectionString }) => (pool === undefined) !== (connectionString === undefined),
    "needs either connectionString or pool, and not both; if connectionString comes from an environment variable, check that it is set",
  ),
);

function isQueryable(value: unknown): boolean {
  return typeof (value as Partial<Queryable> | null)?.query === "function";
}
