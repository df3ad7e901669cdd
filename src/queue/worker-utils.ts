// The library's way in for applications: all operations of one queue as methods of one object, on a
// pool of its own or on what it is lent. Whatever was lent is never ended.
import type pg from "pg";
import * as v from "valibot";
import { WorkerError } from "../base/errors.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import { strict, validate } from "../base/validate.ts";
import type { Database, Queryable } from "../database/database.ts";
import { migrate } from "../database/migrate.ts";
import { createPool } from "../database/pool.ts";
import { schemaName } from "../database/schema-name.ts";
import type { Job } from "../domain/job.ts";
import type { JobSpec, JobToAdd } from "../domain/job-spec.ts";
import { addJob } from "./add-job.ts";
import { addJobs } from "./add-jobs.ts";
import { type CleanupResult, type CleanupTask, cleanup } from "./cleanup.ts";
import { coalescedAdd } from "./coalesced-add.ts";
import { completeJobs } from "./complete-jobs.ts";
import { copyJobs } from "./copy-jobs.ts";
import { countJobs, type JobCounts } from "./count-jobs.ts";
import { forceUnlockWorkers, type UnlockedCounts } from "./force-unlock-workers.ts";
import { getJob } from "./get-job.ts";
import type { JobFilter } from "./job-filter.ts";
import { type ActiveWorker, listActiveWorkers } from "./list-active-workers.ts";
import { type JobPage, listJobs } from "./list-jobs.ts";
import { type LockedWorker, listLockedWorkers } from "./list-locked-workers.ts";
import { listQueues, type QueueSummary } from "./list-queues.ts";
import { permanentlyFailJobs } from "./permanently-fail-jobs.ts";
import { type RemovedJob, removeJob } from "./remove-job.ts";
import { type JobChanges, rescheduleJobs } from "./reschedule-jobs.ts";
import { type SweepOptions, type SweepResult, sweepStaleWorkers } from "./sweep-stale-workers.ts";

/** Either `pool` or `connectionString` is needed. */
export interface WorkerUtilsOptions {
  /** A pool of the application's; it stays the application's. */
  readonly pool?: pg.Pool | undefined;
  /** `postgres://user:password@host:port/database`, for a pool that `end()` ends. */
  readonly connectionString?: string | undefined;
  /** Default `worker`; an existing Graphile Worker installation is `graphile_worker`. */
  readonly schema?: string | undefined;
  /** Of the pool of its own, 1–1,000. Default 5. */
  readonly maxConnections?: number | undefined;
  /** Off behind a transaction pooler such as pgbouncer. Default true. */
  readonly preparedStatements?: boolean | undefined;
  /** Default: silent. */
  readonly logger?: Logger | undefined;
}

/** Each method is the operation of the same name; its documentation is there. */
export interface WorkerUtils extends AsyncDisposable {
  readonly schema: string;
  /** For operations that are called as functions. */
  readonly database: Database;
  /** Calls without a key that are made at about the same time share one insert. */
  addJob(identifier: string, payload?: unknown, spec?: JobSpec): Promise<Job>;
  addJobs(jobs: readonly JobToAdd[]): Promise<Job[]>;
  copyJobs(jobs: Iterable<JobToAdd> | AsyncIterable<JobToAdd>): Promise<number>;
  completeJobs(ids: readonly string[]): Promise<Job[]>;
  permanentlyFailJobs(ids: readonly string[], reason?: string | null): Promise<Job[]>;
  rescheduleJobs(ids: readonly string[], changes: JobChanges): Promise<Job[]>;
  removeJob(key: string): Promise<RemovedJob>;
  getJob(id: string): Promise<Job | null>;
  listJobs(filter?: JobFilter): Promise<JobPage>;
  countJobs(): Promise<JobCounts>;
  listQueues(limit?: number): Promise<QueueSummary[]>;
  listLockedWorkers(): Promise<LockedWorker[]>;
  listActiveWorkers(options?: { readonly staleAfter_s?: number }): Promise<ActiveWorker[]>;
  cleanup(tasks?: readonly CleanupTask[]): Promise<CleanupResult>;
  forceUnlockWorkers(workerIds: readonly string[]): Promise<UnlockedCounts>;
  sweepStaleWorkers(options?: SweepOptions): Promise<SweepResult>;
  /** Builds the schema, or brings it up to date. Not on `with(client)`: it needs a pool. */
  migrate(): Promise<void>;
  /**
   * The same on another pool or client, such as one inside a transaction: then a rollback takes
   * back what was done. Ending the result ends nothing.
   */
  with(client: Queryable): WorkerUtils;
  /** Ends the pool of its own, after the statements under way. Idempotent. */
  end(): Promise<void>;
}

const optionsSchema = v.pipe(
  strict({
    pool: v.optional(v.custom<pg.Pool>(isQueryable, "must be a pg Pool")),
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
    logger: v.optional(v.custom<Logger>((value) => typeof value === "object" && value !== null)),
  }),
  v.check(
    ({ pool, connectionString }) => (pool === undefined) !== (connectionString === undefined),
    "either pool or connectionString is needed",
  ),
);

function isQueryable(value: unknown): boolean {
  return typeof (value as Partial<Queryable> | null)?.query === "function";
}

/**
 * Utilities for one queue. Connects at first use, so a wrong address shows at the first call.
 * Throws InputError for an unknown option, one out of range, or a URL that is none.
 */
export async function makeWorkerUtils(options: WorkerUtilsOptions): Promise<WorkerUtils> {
  const { pool, connectionString, maxConnections, logger, ...checked } = validate(
    optionsSchema,
    options,
  );
  const { preparedStatements } = checked;
  const schema = schemaName(checked.schema);
  const log = logger ?? silentLogger;
  if (pool !== undefined) {
    const lent = { client: pool, schema, preparedStatements };
    return bind(lent, { pool, logger: log, end: async () => {} });
  }
  const own = createPool({
    connectionString: connectionString ?? "",
    logger: log,
    ...(maxConnections === undefined ? {} : { maxConnections }),
  });
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= own.end();
    return ended;
  };
  return bind({ client: own, schema, preparedStatements }, { pool: own, logger: log, end });
}

interface Owner {
  /** null: we only have a client. */
  readonly pool: pg.Pool | null;
  readonly logger: Logger;
  end(): Promise<void>;
}

function bind(db: Database, owner: Owner): WorkerUtils {
  // On a client of the caller's each call goes out by itself, in the order of the calls.
  const add = owner.pool === null ? (job: JobToAdd) => addJob(db, job) : coalescedAdd(db);
  return Object.freeze({
    schema: db.schema.name,
    database: db,
    addJob: (identifier: string, payload?: unknown, spec?: JobSpec) =>
      add({ identifier, payload, spec }),
    addJobs: (jobs: readonly JobToAdd[]) => addJobs(db, jobs),
    copyJobs: (jobs: Iterable<JobToAdd> | AsyncIterable<JobToAdd>) => copyJobs(db, jobs),
    completeJobs: (ids: readonly string[]) => completeJobs(db, ids),
    permanentlyFailJobs: (ids: readonly string[], reason: string | null = null) =>
      permanentlyFailJobs(db, ids, reason),
    rescheduleJobs: (ids: readonly string[], changes: JobChanges) =>
      rescheduleJobs(db, ids, changes),
    removeJob: (key: string) => removeJob(db, key),
    getJob: (id: string) => getJob(db, id),
    listJobs: (filter?: JobFilter) => listJobs(db, filter),
    countJobs: () => countJobs(db),
    listQueues: (limit?: number) => listQueues(db, limit),
    listLockedWorkers: () => listLockedWorkers(db),
    listActiveWorkers: (options?: { readonly staleAfter_s?: number }) =>
      listActiveWorkers(db, options),
    cleanup: (tasks?: readonly CleanupTask[]) => cleanup(db, tasks),
    forceUnlockWorkers: (workerIds: readonly string[]) => forceUnlockWorkers(db, workerIds),
    sweepStaleWorkers: (options?: SweepOptions) => sweepStaleWorkers(db, options),
    migrate: () => migrateOn(db, owner),
    with: (client: Queryable) =>
      bind({ ...db, client }, { ...owner, pool: null, end: async () => {} }),
    end: () => owner.end(),
    [Symbol.asyncDispose]: () => owner.end(),
  });
}

async function migrateOn(db: Database, { pool, logger }: Owner): Promise<void> {
  if (pool === null) {
    throw new WorkerError(
      "configuration",
      "migrate() needs a pool: call it on what makeWorkerUtils returned, not on with(client)",
    );
  }
  await migrate(pool, db.schema, { logger });
}
