// Runs one claimed job from its task to its outcome. The steps, in order: find the task, ask the
// interceptors, call the handler under its timeout, judge the result, let the interceptors turn it,
// record, tell the observers. A task that is synchronous and not intercepted runs without a wait.
import { inspect } from "node:util";
import { monotonic } from "../base/clock.ts";
import { jsonElements } from "../base/json-members.ts";
import type { ClaimedJob } from "./claimed-job.ts";
import type { Hooks, Verdict } from "./hooks.ts";
import type { Outcomes } from "./outcomes.ts";
import type { BatchResults, Task } from "./task.ts";
import { type ContextSource, JobContext } from "./task-context.ts";

/** One run of a job. It is the context that its task gets: one object less for each job. */
class Attempt<E> extends JobContext<E> {
  readonly task: Task<unknown, E>;
  readonly startedAt_ms = monotonic();
  /** Decided: whatever comes later is too late. */
  isOver = false;

  constructor(job: ClaimedJob, source: ContextSource<E>, task: Task<unknown, E>) {
    super(job, source);
    this.task = task;
  }
}

/** null = done; otherwise why not, and what is left of a batch. */
type Result = null | { readonly error: Error; readonly payload: string | null };

export class JobExecutor<E> {
  readonly #tasks: ReadonlyMap<string, Task<unknown, E>>;
  readonly #source: ContextSource<E>;
  readonly #outcomes: Outcomes;
  readonly #hooks: Hooks;
  readonly #timeout_ms: number | undefined;
  /** Attempts that something is waited for. */
  readonly #running = new Set<Attempt<E>>();
  /** Why all are to end: also those that begin later. */
  #abortReason: Error | undefined;

  constructor(
    tasks: ReadonlyMap<string, Task<unknown, E>>,
    source: ContextSource<E>,
    outcomes: Outcomes,
    hooks: Hooks,
    timeout_ms: number | undefined,
  ) {
    this.#tasks = tasks;
    this.#source = source;
    this.#outcomes = outcomes;
    this.#hooks = hooks;
    this.#timeout_ms = timeout_ms;
  }

  /** Jobs whose handler has been called and has not ended. */
  get running(): readonly ClaimedJob[] {
    return [...this.#running].map(({ job }) => job);
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** Runs the job; a promise only where something has to be waited for. Never rejects. */
  run(job: ClaimedJob): Promise<void> | undefined {
    const task = this.#tasks.get(job.taskIdentifier);
    if (task === undefined || !job.isLoaded) {
      // Claims name our tasks, so this is a task that was removed and re-made in between.
      this.#outcomes.return(job);
      return undefined;
    }
    const attempt = new Attempt(job, this.#source, task);
    if (this.#hooks.interceptors("beforeJobRun").length === 0) return this.#handled(attempt);
    return this.#remembered(attempt, this.#intercepted(attempt));
  }

  /** Only what takes a while can be asked after, aborted or abandoned. */
  #remembered(attempt: Attempt<E>, pending: Promise<void>): Promise<void> {
    if (attempt.isOver) return pending;
    this.#running.add(attempt);
    if (this.#abortReason !== undefined) attempt.abort(this.#abortReason);
    return pending;
  }

  /** Aborts the signals of running jobs: all, or those with these ids. */
  abort(reason: Error, ids?: ReadonlySet<string>): void {
    for (const attempt of this.#running) {
      if (ids === undefined || ids.has(attempt.job.id)) attempt.abort(reason);
    }
  }

  /** Aborts the signals of running jobs and of all that are still to begin. */
  abortForGood(reason: Error): void {
    this.#abortReason = reason;
    this.abort(reason);
  }

  /** Gives up on what still runs: it counts as failed, whatever it does later. */
  abandon(reason: string): void {
    for (const attempt of [...this.#running]) {
      const { job } = attempt;
      this.#hooks.emit("job:interrupted", { jobId: job.id, job, reason: "shutdown" });
      this.#end(attempt, failure(reason));
    }
  }

  async #intercepted(attempt: Attempt<E>): Promise<void> {
    const { job } = attempt;
    const input = { job, payloadText: job.payloadText, context: attempt };
    let verdict: Verdict | undefined;
    try {
      for (const interceptor of this.#hooks.interceptors("beforeJobRun")) {
        verdict = await interceptor(input);
        if (verdict !== undefined && verdict.action !== "continue") break;
      }
    } catch (error) {
      return this.#finish(attempt, failure(error));
    }
    if (verdict?.action === "skip") return this.#finish(attempt, null);
    if (verdict?.action === "fail") {
      return this.#finish(attempt, failure(verdict.message));
    }
    return this.#handled(attempt);
  }

  #handled(attempt: Attempt<E>): Promise<void> | undefined {
    const { job, task } = attempt;
    if (this.#hooks.observed("job:start")) this.#hooks.emit("job:start", { job });
    let returned: unknown;
    let isPending = task.kind === "batch";
    try {
      const { payload } = job;
      if (task.kind === "batch" && !Array.isArray(payload)) {
        return this.#finish(attempt, failure("the payload of a batch must be an array"));
      }
      returned = task.handle(payload, attempt);
      isPending ||= isThenable(returned);
    } catch (error) {
      return this.#finish(attempt, failure(error));
    }
    if (!isPending) return this.#finish(attempt, judge(returned));
    return this.#remembered(attempt, this.#awaited(attempt, returned));
  }

  async #awaited(attempt: Attempt<E>, returned: unknown): Promise<void> {
    let result: Result;
    try {
      const judged = this.#judged(attempt, returned);
      const timeout_ms = attempt.task.timeout_ms ?? this.#timeout_ms;
      result = await (timeout_ms === undefined ? judged : limited(judged, attempt, timeout_ms));
    } catch (error) {
      result = failure(error);
    }
    return this.#finish(attempt, result);
  }

  async #judged({ job, task }: Attempt<E>, returned: unknown): Promise<Result> {
    const value = await returned;
    return task.kind === "batch" ? await judgeBatch(job, value as BatchResults) : judge(value);
  }

  #finish(attempt: Attempt<E>, result: Result): Promise<void> | undefined {
    if (this.#hooks.interceptors("afterJobRun").length > 0) {
      return this.#remembered(attempt, this.#turned(attempt, result));
    }
    this.#end(attempt, result);
    return undefined;
  }

  async #turned(attempt: Attempt<E>, result: Result): Promise<void> {
    const { job, startedAt_ms } = attempt;
    const duration_ms = monotonic() - startedAt_ms;
    // What is left of a batch is left of it whatever its failure is called.
    const failed = (thrown: unknown) => ({ ...failure(thrown), payload: result?.payload ?? null });
    let turned = result;
    try {
      for (const interceptor of this.#hooks.interceptors("afterJobRun")) {
        const answer = await interceptor({ job, error: turned?.error ?? null, duration_ms });
        if (answer === undefined) continue;
        turned = answer.error === null ? null : failed(answer.error);
      }
    } catch (error) {
      turned = failed(error);
    }
    this.#end(attempt, turned);
  }

  #end(attempt: Attempt<E>, result: Result): void {
    const { job, startedAt_ms } = attempt;
    // An abandoned attempt may come to its end after all: it has been decided before.
    if (attempt.isOver) return;
    attempt.isOver = true;
    this.#running.delete(attempt);
    const hooks = this.#hooks;
    if (result === null) {
      this.#outcomes.complete(job);
      if (!hooks.observed("job:complete")) return;
      hooks.emit("job:complete", { job, duration_ms: monotonic() - startedAt_ms });
      return;
    }
    const { error, payload } = result;
    const permanent = job.attempts >= job.maxAttempts;
    this.#outcomes.fail({ job, message: errorText(error), payload, permanent: false });
    const name = permanent ? "job:permanentlyFail" : "job:fail";
    hooks.emit(name, { job, error, duration_ms: monotonic() - startedAt_ms });
  }
}

function judge(value: unknown): Result {
  const isFailure = value instanceof Error || (typeof value === "string" && value !== "");
  return isFailure ? failure(value) : null;
}

async function judgeBatch(job: ClaimedJob, results: BatchResults): Promise<Result> {
  if (results === undefined || results === null) return null;
  const items = jsonElements(job.payloadText.trim()) ?? [];
  if (!Array.isArray(results) || results.length !== items.length) {
    throw new Error(`a batch of ${items.length} needs as many results, in the same order`);
  }
  const settled = await Promise.allSettled(results);
  const errors: string[] = [];
  const left: string[] = [];
  for (const [index, one] of settled.entries()) {
    const result = one.status === "rejected" ? failure(one.reason) : judge(one.value);
    if (result === null) continue;
    errors.push(result.error.message);
    left.push(items[index] as string);
  }
  if (left.length === 0) return null;
  const message = `${left.length} of ${items.length} items failed: ${[...new Set(errors)].join("; ")}`;
  return { ...failure(message), payload: `[${left.join(",")}]` };
}

/** Fails the attempt when its time is up; what the handler does later is not waited for. */
async function limited<E>(
  judged: Promise<Result>,
  attempt: Attempt<E>,
  timeout_ms: number,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = told(`timed out after ${timeout_ms} ms`);
      attempt.abort(error);
      reject(error);
    }, timeout_ms);
  });
  judged.catch(() => {});
  try {
    return await Promise.race([judged, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Anything may be thrown. */
function failure(thrown: unknown): { error: Error; payload: null } {
  return { error: thrown instanceof Error ? thrown : told(textOf(thrown)), payload: null };
}

/** An error without a stack: it would only tell where in this file it was made. */
function told(message: string): Error {
  return Object.assign(new Error(message), { stack: message });
}

const UNSHOWN = "something was thrown that cannot be shown";

function textOf(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  try {
    return inspect(thrown);
  } catch {
    return UNSHOWN;
  }
}

/** Query builders and the like are no promises, and often only begin when they are awaited. */
function isThenable(value: unknown): boolean {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";
}

/** What is kept as last_error: the message, and where it came from. */
function errorText(error: Error): string {
  try {
    const { message, stack } = error;
    if (typeof stack !== "string") return String(message);
    return stack.includes(message) ? stack : `${message}\n${stack}`;
  } catch {
    return UNSHOWN;
  }
}
