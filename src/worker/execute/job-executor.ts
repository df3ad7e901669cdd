// Runs fetched jobs: calls the interceptors and the handler, and records the result. Without interceptors, a
// synchronous task runs without a promise, unless the task is a batch or returns a list.
import type { AsyncResource } from "node:async_hooks";
import { monotonic, now, setTimeout } from "../../base/clock.ts";
import { taskContext } from "../../utils/task-scope.ts";
import { callInterceptors, verdictOf } from "../task/call-interceptors.ts";
import type { Hooks, Verdict } from "../task/hooks.ts";
import type { RetryRules } from "../task/next-attempt.ts";
import type { ContextSource } from "../task/task-context.ts";
import { deadlinePassed, limitOf, withAttemptLimit } from "./attempt-limit.ts";
import type { FetchedJob } from "./fetched-job.ts";
import { JobAttempt } from "./job-context.ts";
import type { Results } from "./results.ts";
import type { TalliedTasks } from "./task-tally.ts";
import {
  endError,
  errorText,
  failure,
  isThenable,
  judge,
  judgePending,
  type Result,
} from "./verdict.ts";

const NOT_COMMITTED =
  "the transaction that completes the job was not committed: call completeIn() last, then commit";

/** A job whose attempt has begun and has not ended. */
export interface RunningJob {
  readonly job: FetchedJob;
  /** When the attempt began, in milliseconds by the monotonic clock. */
  readonly startedAtMs: number;
}

export class JobExecutor<E> {
  readonly #tasks: TalliedTasks<E>;
  readonly #source: ContextSource<E>;
  readonly #results: Results;
  readonly #hooks: Hooks;
  readonly #timeoutMs: number | undefined;
  readonly #retry: RetryRules;
  /** By job id. Not a Map, because V8 keeps a Map's old tables until a full garbage collection. */
  readonly #running: Record<string, JobAttempt<E>> = Object.create(null);
  readonly #hasId = (id: string): boolean => id in this.#running;
  #context: AsyncResource;
  #abortReason: Error | undefined;

  constructor(
    tasks: TalliedTasks<E>,
    source: ContextSource<E>,
    results: Results,
    hooks: Hooks,
    timeoutMs: number | undefined,
    retry: RetryRules,
  ) {
    this.#tasks = tasks;
    this.#source = source;
    this.#results = results;
    this.#hooks = hooks;
    this.#timeoutMs = timeoutMs;
    this.#retry = retry;
    this.#context = taskContext(source, this.#hasId);
  }

  get running(): readonly RunningJob[] {
    return Object.values(this.#running);
  }

  isRunning(job: FetchedJob): boolean {
    return this.#running[job.id]?.job === job;
  }

  /** Makes later jobs run in the asynchronous context of this call. */
  begin(): void {
    this.#context = taskContext(this.#source, this.#hasId);
  }

  /**
   * Runs the job. Returns undefined if the attempt has ended, or the job was given back without an attempt. Otherwise,
   * returns a promise that never rejects. The promise resolves when the interceptors have ended, and the task has ended
   * or timed out.
   */
  run(job: FetchedJob): Promise<void> | undefined {
    return this.#context.runInAsyncScope(this.#run, undefined, job);
  }

  readonly #run = (job: FetchedJob): Promise<void> | undefined => {
    const talliedTask = this.#tasks.get(job.taskIdentifier);
    if (talliedTask === undefined || !job.isLoaded) {
      // The task's row may have been deleted during the fetch.
      this.#results.return(job);
      return undefined;
    }
    const earlier = this.#running[job.id];
    if (earlier !== undefined) this.#replace(earlier);
    const attempt = new JobAttempt(job, this.#source, talliedTask);
    const { timing } = attempt.tally;
    if (timing !== null) timing.waits.add(attempt.waitedSeconds);
    if (this.#hooks.interceptors("beforeJobRun").length === 0) return this.#handle(attempt);
    return this.#register(attempt, this.#intercept(attempt));
  };

  /**
   * Ends an earlier attempt with the same job id. Either this worker lost the job's lock and has fetched the job again,
   * or a restored database has given the id to a new job.
   */
  #replace(earlier: JobAttempt<E>): void {
    const { job, workerId } = earlier;
    earlier.isOver = true;
    delete this.#running[job.id];
    earlier.abort(new Error("the lock was lost: the job runs again"));
    this.#hooks.emit("job:interrupted", { workerId, jobId: job.id, job, reason: "lease_lost" });
  }

  #register(attempt: JobAttempt<E>, pending: Promise<void>): Promise<void> {
    if (attempt.isOver) return pending;
    this.#running[attempt.job.id] = attempt;
    if (this.#abortReason !== undefined) attempt.abort(this.#abortReason);
    return pending;
  }

  /** Aborts the signals of all running jobs, or of the running jobs with these ids. */
  abort(reason: Error, ids?: ReadonlySet<string>): void {
    for (const attempt of Object.values(this.#running)) {
      if (ids === undefined || ids.has(attempt.job.id)) attempt.abort(reason);
    }
  }

  /**
   * Aborts the signal of a cancelled job. Returns false if the job is not running or not cancelled. If the job still
   * runs `graceMs` later, its attempt fails, and `onOverdue` is called.
   */
  cancel(job: FetchedJob, graceMs: number, onOverdue: () => void): boolean {
    const attempt = this.#running[job.id];
    if (attempt?.job !== job || job.cancelled === undefined) return false;
    attempt.abort(job.cancelled);
    setTimeout(() => {
      if (attempt.isOver) return;
      attempt.logger.warn({}, "a cancelled job ignores its signal, and keeps its slot");
      this.#end(attempt, failure(`it still ran ${graceMs} ms after its signal had aborted`));
      onOverdue();
    }, graceMs).unref();
    return true;
  }

  /** Aborts the signals of all running jobs, and of jobs that start later. */
  abortForGood(reason: Error): void {
    this.#abortReason = reason;
    this.abort(reason);
  }

  /** Ends the attempts of all running jobs as failed. */
  abandon(reason: string): void {
    for (const attempt of this.running as readonly JobAttempt<E>[]) {
      const { job, workerId } = attempt;
      this.#hooks.emit("job:interrupted", { workerId, jobId: job.id, job, reason: "shutdown" });
      this.#end(attempt, failure(reason));
    }
  }

  /** Resolves when each job that was passed to run() has started, or has ended without starting. */
  async untilStarted(): Promise<void> {
    await Promise.all(Object.values(this.#running).map(({ verdict }) => verdict?.catch(() => {})));
  }

  async #intercept(attempt: JobAttempt<E>): Promise<void> {
    const { job } = attempt;
    const input = { job, payloadText: job.payloadText, context: attempt };
    let verdict: Verdict | undefined;
    try {
      attempt.verdict = verdictOf(this.#hooks, "beforeJobRun", input);
      verdict = await attempt.verdict;
    } catch (error) {
      return this.#finish(attempt, failure(error));
    }
    if (verdict?.action === "skip") {
      attempt.isSkipped = true;
      return this.#finish(attempt, null);
    }
    if (verdict?.action === "fail") {
      return this.#finish(attempt, failure(verdict.message));
    }
    return this.#handle(attempt);
  }

  #handle(attempt: JobAttempt<E>): Promise<void> | undefined {
    const { job, task } = attempt;
    if (attempt.isOver) return undefined; // ended while an interceptor ran
    if (job.cancelled !== undefined) return this.#finish(attempt, failure(job.cancelled));
    const { deadlineMs } = job;
    if (deadlineMs !== null && deadlineMs <= now()) {
      return this.#finish(attempt, failure(deadlinePassed(deadlineMs)));
    }
    if (this.#hooks.hasObservers("job:start")) {
      this.#hooks.emit("job:start", { workerId: attempt.workerId, job });
    }
    let returned: unknown;
    let isPending = task.kind === "batch";
    try {
      const { payload } = job;
      if (task.kind === "batch" && !Array.isArray(payload)) {
        return this.#finish(attempt, failure("the payload of a batch must be an array"));
      }
      returned = task.handle(payload, attempt);
      isPending ||= isThenable(returned) || Array.isArray(returned);
    } catch (error) {
      return this.#finish(attempt, failure(error));
    }
    if (!isPending) return this.#finish(attempt, judge(task.kind, returned));
    return this.#register(attempt, this.#awaitResult(attempt, returned));
  }

  async #awaitResult(attempt: JobAttempt<E>, returned: unknown): Promise<void> {
    let result: Result;
    try {
      const judged = attempt.began(this.#evaluate(attempt, returned));
      const timeoutMs = attempt.task.timeoutMs ?? this.#timeoutMs;
      const limit = limitOf(timeoutMs, attempt.job.deadlineMs);
      result = await (limit === undefined ? judged : withAttemptLimit(judged, attempt, limit));
    } catch (error) {
      result = failure(error);
    }
    return this.#finish(attempt, result);
  }

  async #evaluate({ job, task }: JobAttempt<E>, returned: unknown): Promise<Result> {
    return judgePending(task.kind, job, await returned);
  }

  #finish(attempt: JobAttempt<E>, result: Result): Promise<void> | undefined {
    if (this.#hooks.interceptors("afterJobRun").length > 0) {
      return this.#register(attempt, this.#applyAfterJobRun(attempt, result));
    }
    this.#end(attempt, result);
    return undefined;
  }

  async #applyAfterJobRun(attempt: JobAttempt<E>, result: Result): Promise<void> {
    const { job, startedAtMs } = attempt;
    const durationMs = monotonic() - startedAtMs;
    // `payload` has the items of a batch that are left for a retry.
    const failed = (thrown: unknown) => ({ ...failure(thrown), payload: result?.payload ?? null });
    let outcome = result;
    try {
      const input = () => ({ job, error: outcome?.error ?? null, durationMs });
      await callInterceptors(this.#hooks, "afterJobRun", input, (answer) => {
        if (answer !== undefined) outcome = answer.error === null ? null : failed(answer.error);
        return false;
      });
    } catch (error) {
      outcome = failed(error);
    }
    this.#end(attempt, outcome);
  }

  #end(attempt: JobAttempt<E>, result: Result): void {
    const { job, startedAtMs, workerId, tally } = attempt;
    // The attempt was abandoned, replaced, or overdue after a cancel.
    if (attempt.isOver) return;
    attempt.isOver = true;
    delete this.#running[job.id];
    const hooks = this.#hooks;
    if (result === null && attempt.isSkipped) {
      tally.skipped++;
      this.#results.skip(job);
      hooks.emit("job:skip", { workerId, job });
      return;
    }
    tally.timing?.runs.add((monotonic() - startedAtMs) / 1_000);
    if (job.isQueued) tally.addDuration(monotonic() - startedAtMs);
    if (result === null) {
      tally.done++;
      if (attempt.isCompletedByTask) this.#results.completedByTask(job, NOT_COMMITTED);
      else this.#results.complete(job);
      if (hooks.hasObservers("job:success")) {
        hooks.emit("job:success", { workerId, job, durationMs: monotonic() - startedAtMs });
      }
      job.releasePayload();
      return;
    }
    const { payload } = result;
    const error = endError(job, result.error);
    const next = this.#retry.next(error, job, attempt.task.retry);
    const failed = { job, message: errorText(error), payload, next };
    if (attempt.isCompletedByTask) this.#results.completedByTask(job, failed.message, next);
    else this.#results.fail(failed);
    if (next.kind === "snooze") {
      hooks.emit("job:snooze", { workerId, job, delayMs: next.delayMs });
      return;
    }
    tally.failed++;
    const event = { workerId, job, error, durationMs: monotonic() - startedAtMs };
    const willRetry = next.kind === "retry" && job.attempts < job.maxAttempts;
    hooks.emit("job:error", { ...event, willRetry });
    if (!willRetry) hooks.emit("job:failed", event);
  }
}
