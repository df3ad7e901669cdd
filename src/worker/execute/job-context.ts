// JobContext is the context of a task. Its subclass JobAttempt also has the state of the attempt, for the worker.
import type { Pool } from "pg";
import { monotonic, now } from "../../base/clock.ts";
import { InputError, WorkerError } from "../../base/errors.ts";
import type { Logger, TaskLogger } from "../../base/logger.ts";
import { joinedFields } from "../../base/safe-logger.ts";
import { withClient } from "../../database/connection/pool.ts";
import { isInTransaction, isOutsideTransaction } from "../../database/connection/transaction.ts";
import type { Verdict } from "../task/hooks.ts";
import { withoutOwnJob } from "../task/own-job.ts";
import type { Task } from "../task/task.ts";
import type { AbortedAttempt, ContextSource, TaskContext } from "../task/task-context.ts";
import type { FetchedJob } from "./fetched-job.ts";
import type { TalliedTask, TaskTally } from "./task-tally.ts";

export class JobContext<Extensions> implements TaskContext<Extensions> {
  readonly job: FetchedJob;
  readonly #source: ContextSource<Extensions>;
  #abort: AbortController | undefined;
  #logger: TaskLogger | undefined;
  /** Whether the attempt has ended. The task's code may still run. */
  isOver = false;
  /** Whether completeIn() has deleted the job in the task's transaction, which may still be open. */
  isCompletedByTask = false;

  constructor(job: FetchedJob, source: ContextSource<Extensions>) {
    this.job = job;
    this.#source = source;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  abort(reason: Error): void {
    this.#abort ??= new AbortController();
    this.#abort.abort(reason);
  }

  protected get aheadMs(): number {
    return this.#source.aheadMs();
  }

  protected get aborted(): ContextSource<Extensions>["aborted"] {
    return this.#source.aborted;
  }

  get logger(): TaskLogger {
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

  // These getters return functions that do not need `this`, so that a task can destructure the context.

  get query(): TaskContext["query"] {
    const { pool } = this.#source;
    return (text, values) => pool.query(text, values);
  }

  get withPgClient(): TaskContext["withPgClient"] {
    const { pool } = this.#source;
    return (run) =>
      withClient(pool, async (client) => {
        const result = await run(client);
        if (isInTransaction(client)) throw new WorkerError("conflict", LEFT_OPEN);
        return result;
      });
  }

  get addJob(): TaskContext["addJob"] {
    return this.#source.utils.addJob;
  }

  get addJobs(): TaskContext["addJobs"] {
    return this.#source.utils.addJobs;
  }

  get completeIn(): TaskContext["completeIn"] {
    return async (client) => {
      this.#assertRunning();
      // Outside a transaction the job would be deleted at once, without the other changes of its task.
      if (isOutsideTransaction(client)) throw new InputError(NO_TRANSACTION);
      await this.#source.completeIn(this.job, client);
      this.#assertRunning(); // The attempt may have ended since the first check.
      this.isCompletedByTask = true;
    };
  }

  #assertRunning(): void {
    if (this.isOver) throw new WorkerError("conflict", "the attempt has ended: roll back");
  }
}

/** One attempt, which is also the task's context. This saves one object for each job. */
export class JobAttempt<E> extends JobContext<E> {
  readonly task: Task<unknown, E>;
  readonly tally: TaskTally;
  readonly startedAtMs = monotonic();
  /** Whether an interceptor skipped the job. */
  isSkipped = false;
  /** The decision of the `beforeJobRun` interceptors; null without such interceptors. */
  verdict: Promise<Verdict | undefined> | null = null;

  /** Settles when the task's code has ended, which may be after the end of the attempt. */
  #code: Promise<unknown> | null = null;
  #abortedAtMs: number | null = null;

  constructor(job: FetchedJob, source: ContextSource<E>, { task, tally }: TalliedTask<E>) {
    super(job, source);
    this.task = task;
    this.tally = tally;
  }

  /** The time from the later of the job's `runAt` and its creation to its fetch (database's clock); 0 if unknown. */
  get waitedSeconds(): number {
    const { job, startedAtMs, aheadMs } = this;
    const fetchedAtMs = now() - (startedAtMs - job.fetchedAtMs) - aheadMs;
    const sinceMs = Math.max(job.runAtSeconds * 1_000, job.createdAt.getTime());
    const waitedMs = fetchedAtMs - sinceMs;
    return Number.isFinite(waitedMs) ? Math.max(0, waitedMs / 1_000) : 0;
  }

  override abort(reason: Error): void {
    super.abort(reason);
    if (this.#abortedAtMs !== null) return;
    this.#abortedAtMs = monotonic();
    if (this.#code !== null) this.#listAborted(this.#code, this.#abortedAtMs);
  }

  began<T>(code: Promise<T>): Promise<T> {
    this.#code = code;
    if (this.#abortedAtMs !== null) this.#listAborted(code, this.#abortedAtMs);
    return code;
  }

  #listAborted(code: Promise<unknown>, abortedAtMs: number): void {
    const { aborted } = this;
    const entry = { job: this.job, abortedAtMs };
    aborted.add(entry);
    const ended = () => void aborted.delete(entry);
    code.then(ended, ended);
  }
}

const NO_TRANSACTION =
  'completeIn() needs a client in a transaction, such as that of withPgClient() after `await client.query("begin")`';

const LEFT_OPEN =
  "the function of withPgClient() returned with an open transaction, which was rolled back: commit before it returns";

function withFields(logger: Logger, fields: object): TaskLogger {
  const at =
    (level: "debug" | "info" | "warn" | "error") =>
    (more: object | string, message?: string): void =>
      typeof more === "string"
        ? logger[level](fields, more)
        : logger[level](joinedFields(fields, more), message ?? "");
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** A job whose code still runs although its signal has aborted. */
export interface JobIgnoringSignal {
  /** The job's id. */
  readonly id: string;
  /** The identifier of the job's task. */
  readonly taskIdentifier: string;
  /** How long ago the job's signal aborted, in milliseconds. */
  readonly abortedForMs: number;
}

export function ignoringSignal(
  aborted: ReadonlySet<AbortedAttempt>,
  graceMs: number,
): JobIgnoringSignal[] {
  const nowMs = monotonic();
  return [...aborted].flatMap(({ job: { id, taskIdentifier }, abortedAtMs }) => {
    const abortedForMs = nowMs - abortedAtMs;
    return abortedForMs < graceMs ? [] : [{ id, taskIdentifier, abortedForMs }];
  });
}
