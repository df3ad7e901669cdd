// The time limit of an attempt: the timeout of its task or worker, or the deadline of its job, whichever is earlier.
import { clearTimeout, MAX_TIMER_MS, now, setTimeout } from "../../base/clock.ts";
import { pastDeadline } from "../../domain/words.ts";
import { PermanentFailure } from "../task/outcomes.ts";
import { errorWithoutStack, type Result } from "./verdict.ts";

/** The time after which an attempt fails, in milliseconds, and the error with which it fails. */
export interface AttemptLimit {
  readonly afterMs: number;
  readonly error: () => Error;
  readonly isDeadline: boolean;
}

/** Tasks that end by themselves after their signal aborts → the milliseconds that this takes at most. */
const endings = new WeakMap<object, number>();

/**
 * Marks a task that ends within `withinMs` after its signal aborts. At the time limit, the attempt fails only when the
 * task has ended, or after `withinMs`. Until then the task's program may still run, and neither the job's next attempt
 * nor the next job of its named queue may run beside it.
 */
export function endsWithin<T extends object>(task: T, withinMs: number): T {
  endings.set(task, withinMs);
  return task;
}

/**
 * Returns the limit: the timeout or the job's deadline, whichever is earlier. Returns undefined if there is neither, or
 * if there is no timeout and the deadline is more than MAX_TIMER_MS away.
 */
export function limitOf(
  timeoutMs: number | undefined,
  deadlineMs: number | null,
): AttemptLimit | undefined {
  const leftMs = deadlineMs === null ? Number.POSITIVE_INFINITY : deadlineMs - now();
  if (deadlineMs !== null && leftMs <= (timeoutMs ?? MAX_TIMER_MS)) {
    const error = () => deadlinePassed(deadlineMs);
    return { afterMs: Math.max(0, leftMs), error, isDeadline: true };
  }
  if (timeoutMs === undefined) return undefined;
  const error = () => errorWithoutStack(`timed out after ${timeoutMs} ms`);
  return { afterMs: timeoutMs, error, isDeadline: false };
}

export function deadlinePassed(deadlineMs: number): Error {
  // Flags may hold times beyond the range of Date.
  const time = deadlineMs <= LAST_DATE_MS ? new Date(deadlineMs).toISOString() : `${deadlineMs} ms`;
  const error = new PermanentFailure(pastDeadline(time));
  return Object.assign(error, { stack: error.message });
}

const LAST_DATE_MS = 8.64e15;

/** The members of an attempt that withAttemptLimit() uses. */
interface LimitedAttempt {
  readonly task: object;
  readonly isCompletedByTask: boolean;
  abort(reason: Error): void;
}

/**
 * Resolves to the result of an attempt. At the limit, aborts the signal and rejects. There are two exceptions. For a
 * task marked by endsWithin(), the rejection waits for the end of the task, at most `withinMs`. If the task's
 * transaction completes the job, the limit only aborts the signal, because no result can be written before the handler
 * has ended.
 */
export async function withAttemptLimit(
  judged: Promise<Result>,
  attempt: LimitedAttempt,
  limit: AttemptLimit,
): Promise<Result> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  let late: Error | undefined;
  let timer = setTimeout(() => {
    const error = limit.error();
    attempt.abort(error);
    if (attempt.isCompletedByTask) return;
    const withinMs = endings.get(attempt.task);
    if (withinMs === undefined) return reject(error);
    late = error;
    timer = setTimeout(() => reject(error), withinMs);
  }, limit.afterMs);
  judged.catch(() => {});
  try {
    const result = await Promise.race([judged, over]);
    if (late === undefined) return result;
    throw late;
  } catch (thrown) {
    // The error that a marked task throws has more detail than the limit's error, such as a program's stderr. But the
    // error of a deadline prevents retries, so it is thrown, with the task's error as its cause.
    if (late === undefined || thrown === late || !limit.isDeadline) throw thrown;
    throw Object.assign(late, { cause: thrown });
  } finally {
    clearTimeout(timer);
  }
}
