// The context of one job. Everything but `job` is created at first use, so that short tasks stay cheap.
import type { Pool } from "pg";
import { WorkerError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { withClient } from "../../database/connection/pool.ts";
import { withoutOwnJob } from "../task/own-job.ts";
import type { ContextSource, TaskContext } from "../task/task-context.ts";
import type { FetchedJob } from "./fetched-job.ts";

export class JobContext<Extensions> implements TaskContext<Extensions> {
  readonly job: FetchedJob;
  readonly #source: ContextSource<Extensions>;
  #abort: AbortController | undefined;
  #logger: Logger | undefined;
  /** Whether the attempt's result is decided. Later results are ignored. */
  isOver = false;
  /** Whether the task deletes the job in its own transaction. */
  isCompletedByTask = false;

  constructor(job: FetchedJob, source: ContextSource<Extensions>) {
    this.job = job;
    this.#source = source;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  /** Aborts the attempt's signal. */
  abort(reason: Error): void {
    this.#abort ??= new AbortController();
    this.#abort.abort(reason);
  }

  get logger(): Logger {
    const { id, taskIdentifier } = this.job;
    this.#logger ??= withFields(this.#source.logger, { job_id: id, task: taskIdentifier });
    return this.#logger;
  }

  get workerId(): string {
    return this.#source.workerId;
  }

  get utils(): TaskContext["utils"] {
    return withoutOwnJob(this.#source.utils, this.job.id);
  }

  get pool(): Pool {
    return this.#source.pool;
  }

  get extensions(): Extensions {
    return this.#source.extensions;
  }

  // Getters that return closures, so that a task can destructure the context: `({ addJob }) => …`.

  get query(): TaskContext["query"] {
    const { pool } = this.#source;
    return (text, values) => pool.query(text, values);
  }

  get withPgClient(): TaskContext["withPgClient"] {
    const { pool } = this.#source;
    return (run) => withClient(pool, run);
  }

  get addJob(): TaskContext["addJob"] {
    return this.#source.utils.addJob;
  }

  get addJobs(): TaskContext["addJobs"] {
    return this.#source.utils.addJobs;
  }

  get completeIn(): TaskContext["completeIn"] {
    return async (client) => {
      if (this.isOver) throw new WorkerError("conflict", "the attempt has ended: roll back");
      await this.#source.completeIn(this.job, client);
      this.isCompletedByTask = true;
    };
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
