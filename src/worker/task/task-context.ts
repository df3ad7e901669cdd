// What a running job can reach.
import type { Pool, PoolClient, QueryResult, QueryResultRow } from "pg";
import type { Logger } from "../../base/logger.ts";
import type { Job } from "../../domain/job.ts";
import type { AddJob, AddJobs } from "../../domain/typed-job.ts";
import type { WorkerUtils } from "../../utils/worker-utils.ts";
import type { TaskJob } from "./task-job.ts";

/**
 * What a task gets beside its payload. Its functions may be taken out of it:
 * `async (payload, { addJob, signal }) => …`.
 */
export interface TaskContext<Extensions = unknown> {
  /** The job, as it was when it was taken. */
  readonly job: TaskJob;
  /** What `locked_by` holds for this job. */
  readonly workerId: string;
  /** Aborts when the attempt's time is up or the worker is stopped by force. */
  readonly signal: AbortSignal;
  /** Carries the job's id and task identifier on every line. */
  readonly logger: Logger;
  /** The worker's pool. Its size is the application's choice (`maxConnections`). */
  readonly pool: Pool;
  /** What the application attached when it built the worker. */
  readonly extensions: Extensions;
  /** One statement on the pool. As long as its connection lasts, but for `query_timeout` in the URL. */
  query<R extends QueryResultRow>(text: string, values?: unknown[]): Promise<QueryResult<R>>;
  /** One connection of the pool for as long as `run` takes. */
  withPgClient<T>(run: (client: PoolClient) => Promise<T>): Promise<T>;
  /**
   * Adds a job of a task, whose type the payload must have, or of an identifier, with any payload.
   * null: an interceptor skipped it. Concurrent calls of one process share inserts. Not in a
   * transaction of the task's: for that `utils.with(client).addJob`. Rejects with InputError or
   * WorkerError, after 20 s without an answer with `outcome_unknown`.
   */
  readonly addJob: AddJob<Job | null>;
  /** Adds up to 10,000 jobs, all or none, but for those that an interceptor skips. */
  readonly addJobs: AddJobs<Job>;
  /** All operations of the queue, on the worker's pool and through its interceptors: worker.utils. */
  readonly utils: WorkerUtils<Job | null>;
}

/** What all contexts of one worker share. */
export interface SharedContext<Extensions> {
  readonly pool: Pool;
  readonly logger: Logger;
  readonly extensions: Extensions;
  readonly utils: WorkerUtils<Job | null>;
}

/** What the contexts of jobs that are locked under one id share. */
export interface ContextSource<Extensions> extends SharedContext<Extensions> {
  readonly workerId: string;
}
