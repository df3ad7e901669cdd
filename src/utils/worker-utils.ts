// The library's entry point for applications: all operations of one queue as methods of one object, on its own pool or
// on the caller's. A pool or client of the caller is never closed.
import type pg from "pg";
import * as v from "valibot";
import { WorkerError } from "../base/errors.ts";
import { isLogger, type Logger, loggerProblem, silentLogger } from "../base/logger.ts";
import { strict, validate } from "../base/validate.ts";
import type { RemovedJob } from "../commands/jobs/remove-job.ts";
import type { JobChanges } from "../commands/jobs/reschedule-jobs.ts";
import type {
  CleanupOptions,
  CleanupResult,
  CleanupTask,
} from "../commands/maintenance/cleanup.ts";
import type { UnlockedCounts } from "../commands/maintenance/force-unlock-workers.ts";
import type { SweepOptions, SweepResult } from "../commands/maintenance/sweep-stale-workers.ts";
import { createPool } from "../database/connection/pool.ts";
import type { Database, Queryable, StatementClient } from "../database/database.ts";
import { exactClient } from "../database/exact-client.ts";
import { migrate } from "../database/schema/migrate.ts";
import { schemaName } from "../database/schema-name.ts";
import type { Job } from "../domain/job.ts";
import type { AddJob, AddJobs, CopyJobs } from "../domain/typed-job.ts";
import type { JobFilter } from "../insight/pages/job-filter.ts";
import type { JobPage } from "../insight/pages/list-jobs.ts";
import type { QueueSummary } from "../insight/read/list-queues.ts";
import type { JobCounts } from "../queue/read/count-jobs.ts";
import type { ActiveWorker } from "../queue/workers/list-active-workers.ts";
import type { LockedWorker } from "../queue/workers/list-locked-workers.ts";
import { type BeforeAdd, boundOperations } from "./bound-operations.ts";

/** Either `pool` or `connectionString` is needed. */
export interface WorkerUtilsOptions {
  /** The application's pool; it is never closed by the utilities. */
  readonly pool?: pg.Pool | undefined;
  /** `postgres://user:password@host:port/database`, for a pool that `end()` closes. */
  readonly connectionString?: string | undefined;
  /** Default `worker`; an existing Graphile Worker installation uses `graphile_worker`. */
  readonly schema?: string | undefined;
  /** Size of its own pool, 1–1,000. Default 5. */
  readonly maxConnections?: number | undefined;
  /** Set it to false behind a transaction pooler such as pgbouncer. Default true. */
  readonly preparedStatements?: boolean | undefined;
  /** Default: logs nothing. */
  readonly logger?: Logger | undefined;
}

/**
 * The operations of one queue on one pool, or on one client (`with`). `Added` is the result of addJob: a job, or null
 * on a worker's own utils if an interceptor skipped it. Every method rejects with WorkerError, whose `code` is one of
 * `bad_input` (InputError: all problems at once, and nothing was changed), `schema_missing`, `schema_unsupported`,
 * `database_unreachable`, `database_timeout`, `database_busy`, `database_error`. Methods that add jobs also reject with
 * `outcome_unknown`: the connection was lost before the response, and the jobs may have been added. With a `jobKey` the
 * call can be repeated: there will be one job.
 */
export interface WorkerUtils<Added = Job> extends AsyncDisposable {
  /** The plain name of the queue's schema. */
  readonly schema: string;
  /** Where the operations run; for adminServerConfig(pool, utils). */
  readonly database: Database;
  /**
   * Adds a job: of a task, whose type the payload must have, or of an identifier, with any payload. `undefined` is
   * stored as `{}`, a bigint as an exact integer, rawJson() byte for byte. With `jobKey` the waiting job of that key is
   * replaced, as set by `jobKeyMode`; with `unsafe_dedupe` the existing job is returned. When it resolves, the job is
   * committed, or part of the transaction of `with(client)`. Calls without a key that are made at about the same time
   * share one insert. Rejects with InputError for values that the schema or JSON cannot represent.
   */
  readonly addJob: AddJob<Added>;
  /**
   * Adds up to 10,000 jobs, `{ task, payload, spec }` or `{ identifier, payload, spec }`: all of them or none, in one
   * round trip if none has a key. Returns one job for each, in the same order. A problem names the job by its index:
   * `jobs[3].spec.priority`. A batch with a repeated key takes several statements: on `with(client)` they are atomic
   * only in the caller's transaction. Rejects with InputError for more jobs, and like addJob.
   */
  readonly addJobs: AddJobs<Job>;
  /**
   * Adds any number of jobs by COPY, from a list or any (async) iterable, without holding all of them in memory: all or
   * none, and workers are notified once. Returns their number. Job keys are not supported: use addJobs. Rejects with
   * InputError like addJobs, and with errors of the iterable.
   */
  readonly copyJobs: CopyJobs;
  /**
   * Deletes jobs as if they had succeeded, 1–10,000 ids. Returns the deleted jobs, ascending by id: unknown ids, and
   * jobs locked less than 4 hours ago, are left alone. Rejects with InputError for another number of ids, or an invalid
   * id.
   */
  completeJobs(ids: readonly string[]): Promise<Job[]>;
  /**
   * Sets `attempts` to `max_attempts` and `last_error` to the reason (at most 65,536 characters; default "Manually
   * marked as failed"). 1–10,000 ids; returns the changed jobs and rejects like completeJobs. Waits up to a second for
   * jobs that are fetched and not started.
   */
  permanentlyFailJobs(ids: readonly string[], reason?: string | null): Promise<Job[]>;
  /**
   * Changes run_at (`"now"`: by the database's clock), priority, attempts or max_attempts of 1–10,000 jobs; at least
   * one of them is required, the others stay unchanged. A job without attempts left runs again only if `attempts` is
   * below its max_attempts. Returns the changed jobs and rejects like completeJobs. Waits like permanentlyFailJobs.
   */
  rescheduleJobs(ids: readonly string[], changes: JobChanges): Promise<Job[]>;
  /**
   * Removes the job with this key (1–512 characters). Waits up to a second for a job that is fetched and not started. A
   * running job continues, but loses its key and is not retried. Rejects with InputError for an invalid key.
   */
  removeJob(key: string): Promise<RemovedJob>;
  /**
   * Returns the job, or null if it does not exist: a job that has succeeded is deleted. Rejects with InputError for an
   * invalid id.
   */
  getJob(id: string): Promise<Job | null>;
  /**
   * Returns a page of jobs, ascending by id: 100 by default, at most 500, and fewer if they are large. `nextCursor` is
   * the cursor of the next page; null on the last one. Rejects with InputError for an invalid filter.
   */
  listJobs(filter?: JobFilter): Promise<JobPage>;
  /** Returns exact numbers by state. Reads all jobs: about 0.25 s for each million. */
  countJobs(): Promise<JobCounts>;
  /**
   * Returns the named queues, locked ones first; 1,000 by default, 0 to 10,000 (InputError otherwise). Reads all jobs.
   */
  listQueues(limit?: number): Promise<QueueSummary[]>;
  /** Returns the ids that hold locks, with or without a heartbeat, at most 1,000. Reads all jobs. */
  listLockedWorkers(): Promise<LockedWorker[]>;
  /**
   * Returns the workers that send heartbeats, at most 1,000; none in a schema without the heartbeat tables.
   * `staleAfterMs`: `isStale` is true after this many milliseconds without a heartbeat; up to a year (InputError
   * otherwise). Default: the worker's own threshold, or 300,000.
   */
  listActiveWorkers(options?: { readonly staleAfterMs?: number }): Promise<ActiveWorker[]>;
  /**
   * Deletes failed jobs, and task identifiers and queues without jobs; only the named tasks, by default all three; an
   * empty list deletes nothing. "gc-task-identifiers" keeps the tasks of running workers that send heartbeats, and
   * those in `taskIdentifiersToKeep`. Names are deleted in steps; each step waits up to 10 s for open transactions, and
   * restores the names that their jobs refer to. Rejects with InputError for an unknown cleanup task, and with
   * `configuration` if names are to be deleted on `with(client)` inside a transaction.
   */
  cleanup(tasks?: readonly CleanupTask[], options?: CleanupOptions): Promise<CleanupResult>;
  /**
   * Removes all locks of these workers (1–1,000 ids). A job that a live worker still runs will run twice: only name
   * workers that have ended. Rejects with InputError for another number of ids.
   */
  forceUnlockWorkers(workerIds: readonly string[]): Promise<UnlockedCounts>;
  /**
   * Recovers the jobs of workers without a heartbeat for `sweepThresholdMs` (default 300,000), to run again after
   * `recoveryDelayMs` (default 30,000). Attempts stay unchanged. `dryRun`: only reports what it would do. Workers do
   * this for each other by themselves (option `recovery`). Rejects with InputError for a duration that is negative or
   * longer than a year.
   */
  sweepStaleWorkers(options?: SweepOptions): Promise<SweepResult>;
  /**
   * Creates the schema, or applies the missing migrations; safe to run concurrently. Rejects with `configuration` on
   * `with(client)`: it needs a pool.
   */
  migrate(): Promise<void>;
  /**
   * The same operations on another pool or client, such as one inside a transaction: a rollback then undoes them.
   * Ending the result closes nothing. Drivers other than pg can be passed as an object whose `query({ text, values })`
   * resolves to `{ rows }`; it is checked with one query before its first statement, and rejected with `configuration`
   * if it does not return texts unchanged.
   */
  with(client: StatementClient): WorkerUtils<Added>;
  /** Closes its own pool after pending statements; never a pool of the caller. Idempotent. */
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
    logger: v.optional(v.custom<Logger>(isLogger, ({ input }) => loggerProblem(input))),
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
 * Returns utilities for one queue. Connects at first use, so a wrong address fails the first call. Throws InputError
 * for an unknown option, a value out of range, or an invalid URL.
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
    return bindUtils(lent, { pool, logger: log, before: null, end: async () => {} });
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
  const database = { client: own, schema, preparedStatements };
  return bindUtils(database, { pool: own, logger: log, before: null, end });
}

/** What the utilities are built from. */
export interface UtilsOwner {
  /** null if there is only a client. */
  readonly pool: pg.Pool | null;
  readonly logger: Logger;
  /** Called before a job is added; null: none. */
  readonly before: BeforeAdd | null;
  end(): Promise<void>;
}

/** The operations on `db`. With `before`, addJob may return null. */
export function bindUtils<Added = Job>(db: Database, owner: UtilsOwner): WorkerUtils<Added> {
  const { addJob, addJobs, copyJobs, ...rest } = boundOperations(
    db,
    owner.pool !== null,
    owner.before,
  );
  return Object.freeze({
    ...rest,
    schema: db.schema.name,
    database: db,
    addJob: addJob as AddJob<Added>,
    addJobs: addJobs as AddJobs<Job>,
    copyJobs: copyJobs as CopyJobs,
    migrate: () => migrateOn(db, owner),
    with: (client: StatementClient) =>
      bindUtils<Added>(
        { ...db, client: exactClient(client) },
        { ...owner, pool: null, end: async () => {} },
      ),
    end: () => owner.end(),
    [Symbol.asyncDispose]: () => owner.end(),
  });
}

async function migrateOn(db: Database, { pool, logger }: UtilsOwner): Promise<void> {
  if (pool === null) {
    throw new WorkerError(
      "configuration",
      "migrate() needs a pool: call it on what makeWorkerUtils returned, not on with(client)",
    );
  }
  await migrate(pool, db.schema, { logger });
}
