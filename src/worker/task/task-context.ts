// The context that a task's handler receives.
import type { Pool, PoolClient, QueryResult, QueryResultRow } from "pg";
import type { Logger, TaskLogger } from "../../base/logger.ts";
import type { StatementClient } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import type { AddJob, AddJobs } from "../../domain/typed-job.ts";
import type { WorkerUtils } from "../../utils/worker-utils.ts";
import type { TaskJob } from "./task-job.ts";

/** The second argument of a task's handler. Its functions may be destructured. */
export interface TaskContext<Extensions = unknown> {
  /** The job, as it was when it was fetched. */
  readonly job: TaskJob;
  /** The id of the worker that holds the job's lock, as in `locked_by`. */
  readonly workerId: string;
  /**
   * Aborts when the task should end: the job was cancelled (the reason is a JobCancelled), its time limit or deadline
   * has passed, its lock was lost (then its result cannot be written), or the worker is aborted.
   */
  readonly signal: AbortSignal;
  /** The worker's logger. Each line has the job's id and task identifier. */
  readonly logger: TaskLogger;
  /** The worker's pool: the option `pool`, or without this option a pool of at most `maxConnections` connections. */
  readonly pool: Pool;
  /** The worker's option `extensions`. */
  readonly extensions: Extensions;
  /**
   * Runs one statement on the worker's pool. The statement has no time limit unless `query_timeout` or
   * `statement_timeout` is set.
   */
  query<R extends QueryResultRow>(text: string, values?: unknown[]): Promise<QueryResult<R>>;
  /**
   * Calls `run` with a connection of the worker's pool, and releases the connection when `run` ends. If a transaction
   * is open when `run` resolves, the transaction is rolled back, and the call rejects with WorkerError `conflict`.
   */
  withPgClient<T>(run: (client: PoolClient) => Promise<T>): Promise<T>;
  /**
   * Adds a job, by its task or its identifier. To add the job in a transaction of the task, use
   * `utils.with(client).addJob` instead. Resolves to null if an interceptor skipped the job. Rejects with InputError or
   * WorkerError, for example `outcome_unknown` if there was no answer for 20 seconds.
   */
  readonly addJob: AddJob<Job | null>;
  /** Adds up to 10,000 jobs, all or none, except jobs that an interceptor skips. */
  readonly addJobs: AddJobs<Job>;
  /** As `worker.utils`, but completeJobs(), permanentlyFailJobs() and rescheduleJobs() reject the id of this job. */
  readonly utils: WorkerUtils<Job | null>;
  /**
   * Completes the job in a transaction of the task, on `client` (see `utils.with()`). The job is deleted if and only
   * if that transaction commits, so the transaction's writes happen exactly once. Call completeIn() last, then commit.
   * An attempt that ends without the commit has failed. After this call, the time limit and the deadline abort the
   * signal, but no longer end the attempt. Rejects with InputError for a pool, or for a client of pg that is in no
   * transaction. Rejects with WorkerError `conflict` if the job's lock was lost or the attempt has ended; then roll
   * back.
   */
  readonly completeIn: (client: StatementClient) => Promise<void>;
}

/** The members that all contexts of one worker share. */
export interface SharedContext<Extensions> {
  readonly pool: Pool;
  readonly logger: Logger;
  readonly extensions: Extensions;
  readonly utils: WorkerUtils<Job | null>;
  /** The attempts whose signal has aborted and whose code still runs. */
  readonly aborted: Set<AbortedAttempt>;
}

export interface AbortedAttempt {
  readonly job: { readonly id: string; readonly taskIdentifier: string };
  /** The time of the abort, by the monotonic clock. */
  readonly abortedAtMs: number;
}

/** The members that all contexts of one session share. */
export interface ContextSource<Extensions> extends SharedContext<Extensions> {
  readonly workerId: string;
  /** Returns how far this machine's clock is ahead of the database's, in milliseconds. */
  aheadMs(): number;
  completeIn(job: { readonly id: string }, client: StatementClient): Promise<void>;
}
