// The operations of a job queue for applications, as methods of one object. They run on a pool that makeWorkerUtils()
// creates and end() closes, or on a pool or client of the caller, which is never closed.

import type { Pool } from "pg";
import { WorkerError } from "../base/errors.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import { safeLogger } from "../base/safe-logger.ts";
import { validate } from "../base/validate.ts";
import type { CancelEnd } from "../commands/cancel/wait-for-cancelled.ts";
import type { CancelledJob, CancelOptions } from "../commands/jobs/cancel-jobs.ts";
import type { RemovedJob } from "../commands/jobs/remove-job.ts";
import type { JobChanges } from "../commands/jobs/reschedule-jobs.ts";
import type {
  CleanupOptions,
  CleanupResult,
  CleanupTask,
} from "../commands/maintenance/cleanup.ts";
import type { UnlockedCounts } from "../commands/maintenance/force-unlock-workers.ts";
import type { SweepOptions, SweepResult } from "../commands/maintenance/sweep-stale-workers.ts";
import type { PauseOptions, PauseResult } from "../commands/pauses/pause-options.ts";
import type { ResumeResult } from "../commands/pauses/set-pause.ts";
import { createPool } from "../database/connection/pool.ts";
import type { Database, StatementClient } from "../database/database.ts";
import { exactClient } from "../database/exact-client.ts";
import { type MigrationOptions, migrate } from "../database/schema/migrate.ts";
import { schemaName } from "../database/schema-name.ts";
import type { Job } from "../domain/job.ts";
import type { AddJob, AddJobs, CopyJobs } from "../domain/typed-job.ts";
import type { Pause } from "../insight/controls/list-pauses.ts";
import type { JobFilter } from "../insight/pages/job-filter.ts";
import type { JobPage } from "../insight/pages/job-page.ts";
import type { JobCounts } from "../insight/read/count-jobs.ts";
import type { ActiveWorker } from "../insight/read/list-active-workers.ts";
import type { LockedWorker } from "../insight/read/list-locked-workers.ts";
import type { QueueSummary } from "../insight/read/list-queues.ts";
import { type BeforeAdd, boundOperations } from "./bound-operations.ts";
import type { LimitOperations } from "./limit-operations.ts";
import type { ScheduleOperations } from "./schedule-operations.ts";
import { optionsSchema, type WorkerUtilsOptions } from "./utils-options.ts";

/**
 * The operations of a job queue, on a pool or on one client (`with`). `Added` is the type of addJob's result: Job. In
 * the utils of a worker it is Job or null; null means that an interceptor has skipped the job.
 *
 * Every method that uses the database can reject with a WorkerError whose `code` is `bad_input` (InputError: all
 * problems at once; nothing was changed), `schema_missing`, `schema_unsupported`, `database_unreachable`,
 * `database_timeout`, `database_busy`, `read_only_server` or `database_error`; some have further codes. Methods that
 * add jobs also reject with `outcome_unknown` when the connection was lost before the answer: the jobs may have been
 * added. With a `jobKey`, a repeated call leaves at most one waiting job.
 */
export interface WorkerUtils<Added = Job>
  extends AsyncDisposable,
    ScheduleOperations<Added>,
    LimitOperations {
  /** The name of the queue's schema, unquoted. */
  readonly schema: string;
  /** The pool or client and the schema, for adminServerConfig(pool, utils). */
  readonly database: Database;
  /**
   * Adds a job by its task, whose payload type the compiler checks, or by an identifier, with any payload. An undefined
   * payload is stored as `{}`, a bigint as an exact integer, rawJson() byte for byte. With `jobKey`, an existing job of
   * that key is treated as `jobKeyMode` defines. `unique` makes the key from the job's values. If `isDuplicate` of the
   * result is true, the job existed already, and no job was added.
   *
   * When the promise resolves, the job is committed or, on `with(client)`, part of the client's transaction. On a pool,
   * concurrent calls without a key may share one insert. Rejects with InputError for options or payloads that are
   * invalid.
   */
  readonly addJob: AddJob<Added>;
  /**
   * Adds up to 10,000 jobs, `{ task, payload, spec }` or `{ identifier, payload, spec }`: all of them or none. Returns
   * the jobs in the same order, except those that an interceptor skipped. A batch in which a key occurs twice takes
   * several statements: on `with(client)` they are atomic only in your own transaction. Rejects with InputError for
   * more than 10,000 jobs, and otherwise as addJob does. Such an error names the job by its index:
   * `jobs[3].spec.priority`.
   */
  readonly addJobs: AddJobs<Job>;
  /**
   * Adds any number of jobs by COPY, from a list or any (async) iterable, in constant memory, and notifies workers
   * once, at the end. All jobs are added or none; on `with(client)` this is true only in your own transaction. Returns
   * the number of added jobs. Job keys are not supported: use addJobs. Rejects as addJob does, with the job's index,
   * and with errors of the iterable.
   */
  readonly copyJobs: CopyJobs;
  /**
   * Deletes 1–10,000 jobs as if they had succeeded. Returns the deleted jobs, in ascending order of their ids; unknown
   * ids and jobs locked within the last 4 hours are skipped, as in Graphile Worker. Rejects with InputError for invalid
   * ids, for none, or for more than 10,000.
   */
  completeJobs(ids: readonly string[]): Promise<Job[]>;
  /**
   * Fails jobs for good: sets `attempts` to `max_attempts`, and `last_error` to `reason` (at most 65,536 characters;
   * default "Manually marked as failed"). First waits up to a second while a worker has fetched one of the jobs and not
   * started it. Returns the changed jobs. Skips the same jobs as completeJobs. Rejects as completeJobs does, and with
   * InputError for a longer reason.
   */
  permanentlyFailJobs(ids: readonly string[], reason?: string | null): Promise<Job[]>;
  /**
   * Changes run_at, priority, attempts or max_attempts of 1–10,000 jobs; omitted values stay. A job without attempts
   * left runs again only if the change leaves its `attempts` below its `maxAttempts`. Returns the changed jobs. Waits
   * as permanentlyFailJobs does, and skips the same jobs. Rejects with InputError for invalid ids, and for `changes`
   * that are invalid or have no value.
   */
  rescheduleJobs(ids: readonly string[], changes: JobChanges): Promise<Job[]>;
  /**
   * Cancels 1–10,000 jobs, and returns an outcome for each distinct id, in order of `ids`. A waiting job fails, with
   * `last_error` `cancelled: REASON`, or is deleted (`remove`). The signal of a running job aborts with JobCancelled:
   * within 50 ms usually, and within 2.5 s where workers receive no notifications. If its task then throws, the job
   * has failed for good; if it returns, the job is completed. A Graphile worker does not abort the job, and does not
   * retry it. Rejects with `extension_missing` until `worker migrate --with controls` has added the tables, and with
   * InputError for invalid ids or options.
   */
  cancelJobs(ids: readonly string[], options?: CancelOptions): Promise<CancelledJob[]>;
  /**
   * Waits until jobs that were cancelled have ended, at most `timeoutMs` (default 60,000), and returns the outcome
   * of each job. Rejects as cancelJobs does.
   */
  waitForCancelledJobs(
    ids: readonly string[],
    options?: { readonly timeoutMs?: number },
  ): Promise<CancelEnd[]>;
  /**
   * Removes the job with this key, 1–512 characters. A running job continues, but loses its key and is not retried.
   * First waits up to a second while a worker has fetched the job and not started it. Rejects with InputError for an
   * invalid key.
   */
  removeJob(key: string): Promise<RemovedJob>;
  /**
   * Returns the job, or null when it does not exist: a completed job is deleted. Rejects with InputError for an
   * invalid id.
   */
  getJob(id: string): Promise<Job | null>;
  /**
   * Returns a page of jobs, by default 100 in order of ids; at most 500, and fewer when they are large.
   * A page may also be short, even empty, because its search took too long. `nextCursor` leads to the next page, and is
   * null at the end. Rejects with InputError for an invalid filter.
   */
  listJobs(filter?: JobFilter): Promise<JobPage>;
  /** Returns the exact numbers of jobs by state. Reads all jobs: about 0.25 s for each million. */
  countJobs(): Promise<JobCounts>;
  /**
   * Returns named queues, locked ones first: at most `limit`, 0–10,000, default 1,000. Reads all jobs. Rejects with
   * InputError for another limit.
   */
  listQueues(limit?: number): Promise<QueueSummary[]>;
  /** Returns at most 1,000 workers that hold locks. Without the optional index `running` it reads all jobs. */
  listLockedWorkers(): Promise<LockedWorker[]>;
  /**
   * Returns the workers with a row in the table of heartbeats, at most 1,000; none in a schema without that table.
   * `staleAfterMs`: the time without a heartbeat after which `isStale` is true, at most a year; default: each
   * worker's own threshold, or 300,000 if it reports none. Rejects with InputError for another value.
   */
  listActiveWorkers(options?: { readonly staleAfterMs?: number }): Promise<ActiveWorker[]>;
  /**
   * Deletes failed jobs, task identifiers without jobs and queues without jobs; by default all three. The cleanup task
   * "gc-task-identifiers" keeps the identifiers that workers report in their heartbeats, and those of the option
   * `taskIdentifiersToKeep`. Names are deleted in steps. Each step waits up to 10 s for open transactions, and restores
   * the names that jobs of these transactions use. Rejects with InputError for an unknown cleanup task, and with
   * `configuration` when names would be deleted inside a transaction on `with(client)`.
   */
  cleanup(tasks?: readonly CleanupTask[], options?: CleanupOptions): Promise<CleanupResult>;
  /**
   * Unlocks all jobs and queues that these workers, 1–1,000 ids, have locked. Jobs that such a worker still runs may
   * run a second time, so use it only for workers that have ended. Rejects with InputError for another number of ids.
   */
  forceUnlockWorkers(workerIds: readonly string[]): Promise<UnlockedCounts>;
  /**
   * Pauses a named queue, which is created if it does not exist: no worker starts its jobs, not even a Graphile worker.
   * Running jobs continue, unless the option `cancelRunning` is true, and jobs can still be added. Pausing again
   * changes the reason and the end. Waits up to `waitMs` (default 5 s) until all live workers have acknowledged the
   * pause, and returns the workers that have not. Rejects with `extension_missing` before
   * `worker migrate --with controls`, and with InputError for invalid options.
   */
  pauseQueue(name: string, options?: PauseOptions): Promise<PauseResult>;
  /** Pauses the jobs of one task, like pauseQueue(), except that Graphile workers still start them. */
  pauseTask(identifier: string, options?: PauseOptions): Promise<PauseResult>;
  /** Pauses all jobs, like pauseQueue(), except that Graphile workers still start them. */
  pauseAll(options?: PauseOptions): Promise<PauseResult>;
  /**
   * Ends the pause of a queue. If one of its jobs still runs, the queue continues when that job has ended; otherwise at
   * once.
   */
  resumeQueue(name: string): Promise<ResumeResult>;
  /** Ends the pause of a task. A pause of all jobs stays. */
  resumeTask(identifier: string): Promise<ResumeResult>;
  /** Ends the pause of all jobs. Pauses of queues and tasks stay. */
  resumeAll(): Promise<ResumeResult>;
  /**
   * Returns at most 10,000 pauses. `isBackOff` is true for a pause that a job has requested. Returns none in a schema
   * without the tables of pauses.
   */
  listPauses(): Promise<Pause[]>;
  /**
   * Recovers the jobs of workers that have sent no heartbeat for `sweepThresholdMs` (default 300,000) and for their own
   * threshold, or that never sent any and locked nothing in `sweepThresholdMs`. Jobs with the flag
   * `infrastructure_resilient` are recovered only after the worker's threshold for such jobs. Jobs with attempts left
   * may run again after `recoveryDelayMs` (default 30,000); interrupted attempts count. With `dryRun`, nothing is
   * changed. Workers recover each other's jobs, too (option `recovery`). Rejects with InputError for a duration that is
   * negative or longer than a year.
   */
  sweepStaleWorkers(options?: SweepOptions): Promise<SweepResult>;
  /**
   * Creates the schema, or adds what an existing one lacks: `migrate({ extensions: ["limits"] })` adds the tables of
   * limits, too. Safe with any number of callers at once. Rejects as the function migrate() does, and with
   * `configuration` on `with(client)`: it needs a pool.
   */
  migrate(options?: MigrationOptions): Promise<void>;
  /**
   * Returns the same operations on another pool or client. If a client is in a transaction, a rollback of the
   * transaction undoes them. end() of the result ends nothing. A client of another driver than pg must be an object
   * whose `query({ text, values })` resolves to `{ rows }`. It is tested with one statement first; if the driver
   * changes values, each operation rejects with `configuration`.
   */
  with(client: StatementClient): WorkerUtils<Added>;
  /** Ends the pool that makeWorkerUtils() created, after its current statements. Ends no pool of yours. Idempotent. */
  end(): Promise<void>;
}

/**
 * Returns the operations of a job queue. The first operation connects to the database, so a wrong address is noticed
 * only then. Rejects with InputError for invalid options.
 */
export async function makeWorkerUtils(options: WorkerUtilsOptions): Promise<WorkerUtils> {
  const { pool, connectionString, maxConnections, logger, ...checked } = validate(
    optionsSchema,
    options,
  );
  const { preparedStatements } = checked;
  const schema = schemaName(checked.schema);
  const log = safeLogger(logger ?? silentLogger);
  if (pool !== undefined) {
    const database = { client: pool, schema, preparedStatements };
    return bindUtils(database, { pool, logger: log, before: null, end: async () => {} });
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

/** The objects that bindUtils() needs besides a database, and the function that end() calls. */
export interface UtilsOwner {
  /** The pool that migrate() uses; null for the operations that with() returns. */
  readonly pool: Pool | null;
  readonly logger: Logger;
  /** The interceptors that are called before a job is added; null: none. */
  readonly before: BeforeAdd | null;
  end(): Promise<void>;
}

/** Returns the operations on `db`. With `owner.before`, addJob and runSchedule may return null. */
export function bindUtils<Added = Job>(db: Database, owner: UtilsOwner): WorkerUtils<Added> {
  const bound = boundOperations(db, owner.pool !== null, owner.before);
  const { addJob, addJobs, copyJobs, runSchedule, ...rest } = bound;
  return Object.freeze({
    ...rest,
    schema: db.schema.name,
    database: db,
    addJob: addJob as AddJob<Added>,
    runSchedule: runSchedule as (identifier: string) => Promise<Added>,
    addJobs: addJobs as AddJobs<Job>,
    copyJobs: copyJobs as CopyJobs,
    migrate: (options?: MigrationOptions) => migrateOn(db, owner, options),
    with: (client: StatementClient) =>
      bindUtils<Added>(
        { ...db, client: exactClient(client) },
        { ...owner, pool: null, end: async () => {} },
      ),
    end: () => owner.end(),
    [Symbol.asyncDispose]: () => owner.end(),
  });
}

async function migrateOn(
  db: Database,
  { pool, logger }: UtilsOwner,
  options: MigrationOptions = {},
): Promise<void> {
  if (pool === null) {
    throw new WorkerError(
      "configuration",
      "migrate() needs a pool: call it on what makeWorkerUtils returned, not on with(client)",
    );
  }
  await migrate(pool, db.schema, { ...options, logger: options?.logger ?? logger });
}
