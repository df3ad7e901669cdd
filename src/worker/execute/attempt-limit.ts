// The time limit of an attempt: its task's timeout or its job's deadline.
import { clearTimeout, MAX_TIMER_MS, now, setTimeout } from "../../base/clock.ts";
import { pastDeadline } from "../../domain/words.ts";
import { PermanentFailure } from "../task/outcomes.ts";
import { errorWithoutStack, type Result } from "./verdict.ts";

/** The time after which an attempt ends, and its error. */
export interface AttemptLimit {
  readonly afterMs: number;
  readonly error: () => Error;
  readonly isDeadline: boolean;
}

/** Tasks that end by themselves after their signal aborts → the milliseconds that this takes at most. */
const endings = new WeakMap<object, number>();

/**
 * Marks a task that ends within `withinMs` after its signal aborts. When its time limit is reached, the attempt fails
 * only after the task has ended. Otherwise the next attempt or the queue's next job could run beside an ending program.
 */
export function endsWithin<T extends object>(task: T, withinMs: number): T {
  endings.set(task, withinMs);
  return task;
}

/** Returns the earlier of the timeout and the job's deadline. */
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

/** The part of an attempt that its limit uses. */
interface LimitedAttempt {
  readonly task: object;
  readonly isCompletedByTask: boolean;
  abort(reason: Error): void;
}

/**
 * Returns the result of an attempt, or rejects at its time limit. The handler is awaited beyond the limit only if its
 * task is marked by endsWithin(), or if its transaction completes the job. In the second case no result can be written
 * before the handler has ended.
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
    // A marked task's own error has more detail, such as a program's stderr. If the limit is a deadline, that error is
    // only the cause of the deadline's error, which ends retries.
    if (late === undefined || thrown === late || !limit.isDeadline) throw thrown;
    throw Object.assign(late, { cause: thrown });
  } finally {
    clearTimeout(timer);
  }
}
