// What a running job can reach. Everything but `job` is made on first use: a task that touches
// nothing costs nothing.
import type { Pool, PoolClient, QueryResult, QueryResultRow } from "pg";
import type { Logger } from "../base/logger.ts";
import type { Database } from "../database/database.ts";
import { withClient } from "../database/pool.ts";
import type { Job } from "../domain/job.ts";
import type { JobSpec, JobToAdd } from "../domain/job-spec.ts";
import type { ClaimedJob, TaskJob } from "./claimed-job.ts";

export interface TaskContext<Extensions = unknown> {
  readonly job: TaskJob;
  /** Aborts when the attempt's time is up or the worker is stopped by force. */
  readonly signal: AbortSignal;
  /** Carries the job's id and task identifier on every line. */
  readonly logger: Logger;
  /** The worker's pool. Its size is the application's choice (`maxConnections`). */
  readonly pool: Pool;
  /** What the application attached when it built the worker. */
  readonly extensions: Extensions;
  /** One statement on the pool. */
  query<R extends QueryResultRow>(text: string, values?: unknown[]): Promise<QueryResult<R>>;
  /** One connection of the pool for as long as `run` takes. */
  withPgClient<T>(run: (client: PoolClient) => Promise<T>): Promise<T>;
  /** null: an interceptor skipped it. Concurrent calls of one process share inserts. */
  addJob(identifier: string, payload?: unknown, spec?: JobSpec): Promise<Job | null>;
  addJobs(jobs: readonly JobToAdd[]): Promise<Job[]>;
}

/** What all contexts of one worker share. */
export interface ContextSource<Extensions> {
  readonly pool: Pool;
  readonly database: Database;
  readonly logger: Logger;
  readonly extensions: Extensions;
  addJob(identifier: string, payload?: unknown, spec?: JobSpec): Promise<Job | null>;
  addJobs(jobs: readonly JobToAdd[]): Promise<Job[]>;
}

export class JobContext<Extensions> implements TaskContext<Extensions> {
  readonly job: ClaimedJob;
  readonly #source: ContextSource<Extensions>;
  #abort: AbortController | undefined;
  #logger: Logger | undefined;

  constructor(job: ClaimedJob, source: ContextSource<Extensions>) {
    this.job = job;
    this.#source = source;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  /** Ends the attempt's waits; `reason` says why. */
  abort(reason: Error): void {
    this.#abort ??= new AbortController();
    this.#abort.abort(reason);
  }

  get logger(): Logger {
    const { id, taskIdentifier } = this.job;
    this.#logger ??= withFields(this.#source.logger, { job_id: id, task: taskIdentifier });
    return this.#logger;
  }

  get pool(): Pool {
    return this.#source.pool;
  }

  get extensions(): Extensions {
    return this.#source.extensions;
  }

  // Getters that give closures, so that a task can take the context apart: `({ addJob }) => …`.

  get query(): TaskContext["query"] {
    const { pool } = this.#source;
    return (text, values) => pool.query(text, values);
  }

  get withPgClient(): TaskContext["withPgClient"] {
    const { pool } = this.#source;
    return (run) => withClient(pool, run);
  }

  get addJob(): TaskContext["addJob"] {
    return this.#source.addJob;
  }

  get addJobs(): TaskContext["addJobs"] {
    return this.#source.addJobs;
  }
}

function withFields(logger: Logger, fields: object): Logger {
  return {
    debug: (more, message) => logger.debug({ ...fields, ...more }, message),
    info: (more, message) => logger.info({ ...fields, ...more }, message),
    warn: (more, message) => logger.warn({ ...fields, ...more }, message),
    error: (more, message) => logger.error({ ...fields, ...more }, message),
  };
}
