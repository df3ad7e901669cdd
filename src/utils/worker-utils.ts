// The operations of a job queue for applications, as methods of one object.

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
 * The operations of a job queue, on a pool or on the client given to with(). `Added`: the result of addJob(), a Job. In
 * the utils of a worker, the result is null if an interceptor has skipped the job.
 *
 * Every method that uses the database can reject with a WorkerError whose `code` is `schema_missing`,
 * `schema_unsupported`, `database_unreachable`, `database_timeout`, `database_busy`, `busy`, `read_only_server` or
 * `database_error`. For invalid input the code is `bad_input`: the error is an InputError, which lists the problems, or
 * a WorkerError if only PostgreSQL refused a value. After `bad_input` nothing has been changed, except perhaps by
 * addJobs() or copyJobs() on a client in no transaction. Methods that add jobs also reject with `outcome_unknown` if
 * the connection was lost before the answer: the jobs may have been added. With a `jobKey`, a repeated call leaves at
 * most one waiting job.
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
   * Adds a job. The first argument is a task, so that the compiler checks the payload's type, or an identifier, which
   * allows any payload. An undefined payload is stored as `{}`, a bigint as an exact integer, and rawJson() byte for
   * byte. If `isDuplicate` of the result is true, a job with the same key existed, and no job was added.
   *
   * When the promise resolves, the job is committed; on a client that is in a transaction, the job is part of that
   * transaction.
   */
  readonly addJob: AddJob<Added>;
  /**
   * Adds up to 10,000 jobs, each given as `{ task, payload, spec }` or `{ identifier, payload, spec }`. Either all jobs
   * are added or none. Exception: if a key occurs twice in the list, a call that fails on a client in no transaction
   * may have added some jobs. Returns the jobs in the same order, without those that an interceptor has skipped. An
   * InputError names an invalid job by its index, as in `jobs[3].spec.priority`.
   */
  readonly addJobs: AddJobs<Job>;
  /**
   * Adds any number of jobs by COPY, from a list or any (async) iterable, in constant memory. Workers are notified
   * once, at the end. Either all jobs are added or none. Exception: a call that fails on a client in no transaction may
   * have added some jobs. Returns the number of added jobs. Jobs with a key or a throttle are not supported: use
   * addJobs(). An InputError names an invalid job by its index. Also rejects with the errors that the iterable throws,
   * and with `configuration` on a client of another driver than pg.
   */
  readonly copyJobs: CopyJobs;
  /**
   * Deletes 1–10,000 jobs as if they had succeeded. Returns the deleted jobs, in ascending order of their ids. Skips
   * unknown ids, and jobs locked within the last 4 hours, as Graphile Worker does.
   */
  completeJobs(ids: readonly string[]): Promise<Job[]>;
  /**
   * Fails 1–10,000 jobs for good: sets `attempts` to `max_attempts`, and `last_error` to `reason` (at most 65,536
   * characters; default "Manually marked as failed"). If a worker has fetched one of the jobs and not started it, first
   * waits up to a second until the worker has started the job or given it back. Returns the changed jobs. Skips the
   * same jobs as completeJobs().
   */
  permanentlyFailJobs(ids: readonly string[], reason?: string | null): Promise<Job[]>;
  /**
   * Changes run_at, priority, attempts or max_attempts of 1–10,000 jobs; omitted values stay, and at least one value
   * must be given. A failed job runs again only if its `attempts` are below its `maxAttempts` after the change. Returns
   * the changed jobs. Waits as permanentlyFailJobs() does, and skips the same jobs.
   */
  rescheduleJobs(ids: readonly string[], changes: JobChanges): Promise<Job[]>;
  /**
   * Cancels 1–10,000 jobs, and returns an outcome for each distinct id, in the order of `ids`. A waiting job fails,
   * with `cancelled: REASON` as its `last_error`, or is deleted if the option `remove` is true. The signal of a running
   * job aborts with JobCancelled: usually within 50 ms, or within 2.5 s if its worker receives no notifications. If the
   * task throws after the abort, the job has failed for good; if the task returns, the job is completed. A Graphile
   * worker does not abort a running job, but the job is not retried. Rejects with `extension_missing` until
   * `worker migrate --with controls` has added the tables.
   */
  cancelJobs(ids: readonly string[], options?: CancelOptions): Promise<CancelledJob[]>;
  /**
   * Waits until jobs that were cancelled have ended, at most `timeoutMs` milliseconds (default 60,000), and returns the
   * outcome of each job. Rejects as cancelJobs() does.
   */
  waitForCancelledJobs(
    ids: readonly string[],
    options?: { readonly timeoutMs?: number },
  ): Promise<CancelEnd[]>;
  /**
   * Removes the job with this key (1–512 characters). A running job continues, but loses its key and is not retried. If
   * a worker has fetched the job and not started it, first waits as permanentlyFailJobs() does.
   */
  removeJob(key: string): Promise<RemovedJob>;
  /** Returns the job, or null if no job has this id: completed jobs are deleted. */
  getJob(id: string): Promise<Job | null>;
  /**
   * Returns a page of at most `limit` jobs (0–500, default 100), by default in the order of their ids. If the jobs are
   * large or the search took too long, the page has fewer jobs, perhaps none. `nextCursor` leads to the next page, and
   * is null at the end.
   */
  listJobs(filter?: JobFilter): Promise<JobPage>;
  /** Returns the exact numbers of jobs by state. Reads all jobs: about 0.25 s for each million. */
  countJobs(): Promise<JobCounts>;
  /**
   * Returns at most `limit` named queues (0–10,000, default 1,000). Queues that a worker has locked come first. Reads
   * all jobs.
   */
  listQueues(limit?: number): Promise<QueueSummary[]>;
  /** Returns at most 1,000 workers that hold locks. Reads all jobs unless the optional index `running` exists. */
  listLockedWorkers(): Promise<LockedWorker[]>;
  /**
   * Returns at most 1,000 workers that have a row in the table of heartbeats; none if the schema lacks that table.
   * `staleAfterMs`: the time without a heartbeat after which `isStale` is true, in milliseconds, at most a year.
   * Default: each worker's own threshold, or 300,000 for a worker that reports no threshold.
   */
  listActiveWorkers(options?: { readonly staleAfterMs?: number }): Promise<ActiveWorker[]>;
  /**
   * Runs the given cleanup tasks, by default all three: they delete failed jobs, task identifiers without jobs, and
   * queues without jobs. "gc-task-identifiers" keeps the identifiers that workers report in their heartbeats, and those
   * of the option `taskIdentifiersToKeep`. Identifiers and queues are deleted in steps. Each step waits up to 10 s for
   * open transactions, and restores the identifiers and queues that jobs of these transactions use. Rejects with
   * `configuration` if identifiers or queues would be deleted on a client that is in a transaction.
   */
  cleanup(tasks?: readonly CleanupTask[], options?: CleanupOptions): Promise<CleanupResult>;
  /**
   * Unlocks all jobs and queues that the workers with these 1–1,000 ids have locked. Pass only workers that have ended:
   * the jobs of a worker that still runs may run a second time.
   */
  forceUnlockWorkers(workerIds: readonly string[]): Promise<UnlockedCounts>;
  /**
   * Pauses a named queue: no worker, not even a Graphile worker, starts jobs of the queue. A missing queue is created.
   * Running jobs continue, unless the option `cancelRunning` is true, and jobs can still be added. A second call
   * replaces the reason and the end of the pause. Waits up to `waitMs` (default 5,000) until all live workers have
   * acknowledged the pause; the result names the workers that have not. Rejects with `extension_missing` until
   * `worker migrate --with controls` has added the tables.
   */
  pauseQueue(name: string, options?: PauseOptions): Promise<PauseResult>;
  /** Pauses the jobs of one task, like pauseQueue(), except that Graphile workers still start them. */
  pauseTask(identifier: string, options?: PauseOptions): Promise<PauseResult>;
  /** Pauses all jobs, like pauseQueue(), except that Graphile workers still start them. */
  pauseAll(options?: PauseOptions): Promise<PauseResult>;
  /** Ends the pause of a queue. If one of the queue's jobs still runs, the queue continues when that job has ended. */
  resumeQueue(name: string): Promise<ResumeResult>;
  /** Ends the pause of a task. A pause of all jobs stays. */
  resumeTask(identifier: string): Promise<ResumeResult>;
  /** Ends the pause of all jobs. Pauses of queues and tasks stay. */
  resumeAll(): Promise<ResumeResult>;
  /** Returns at most 10,000 pauses; none if the schema has no tables of pauses. */
  listPauses(): Promise<Pause[]>;
  /**
   * Recovers the jobs of workers whose last heartbeat is older than both `sweepThresholdMs` (default 300,000) and the
   * worker's own threshold. Also recovers the jobs of workers that have never sent a heartbeat, if their newest lock is
   * older than `sweepThresholdMs`. Jobs with the flag `infrastructure_resilient` are recovered only after the worker's
   * threshold for such jobs. Jobs with attempts left may run again after `recoveryDelayMs` (default 30,000);
   * interrupted attempts count. Running workers also recover the jobs of stale workers by themselves (option
   * `recovery`).
   */
  sweepStaleWorkers(options?: SweepOptions): Promise<SweepResult>;
  /**
   * Creates the schema, or adds the parts that an existing schema lacks. `migrate({ extensions: ["limits"] })` adds the
   * tables of limits, too. Safe with any number of callers at once. Rejects as the function migrate() does. On the
   * result of with(), rejects with `configuration`.
   */
  migrate(options?: MigrationOptions): Promise<void>;
  /**
   * Returns the same operations on another pool or client. If the client is in a transaction, a rollback of the
   * transaction undoes the operations. end() of the result ends nothing. A client of another driver than pg must be an
   * object whose `query({ text, values })` resolves to `{ rows }`. The first operation tests such a client with one
   * statement. If the driver changes values, each operation rejects with `configuration`.
   */
  with(client: StatementClient): WorkerUtils<Added>;
  /** Ends the pool that makeWorkerUtils() created, after its running statements. A pool of the caller is not ended. */
  end(): Promise<void>;
}

/**
 * Returns the operations of a job queue. The first operation connects to the database, and rejects if the address is
 * wrong. Rejects with InputError for invalid options.
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

/** The parts that bindUtils() needs besides a database. */
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
      "migrate() needs a pool: call migrate() of the utils that makeWorkerUtils() returned, not of with(client)",
    );
  }
  await migrate(pool, db.schema, { ...options, logger: options?.logger ?? logger });
}
