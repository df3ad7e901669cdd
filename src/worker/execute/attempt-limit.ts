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

/** Tasks that end by themselves after their signal aborts → within how many milliseconds. */
const endings = new WeakMap<object, number>();

/**
 * Marks a task that ends within `withinMs` after its signal aborts. At its time limit its attempt fails only when it
 * has ended, so that neither the next attempt nor the next job of the queue runs beside a program that is still ending.
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
 * Rejects when the time limit is reached. The handler is not waited for any longer, except if its transaction completes
 * the job: that transaction decides about the attempt, and until its end no result can be written.
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
    // The program's own error has the end of its stderr. At a deadline the limit's error prevents another attempt.
    if (late === undefined || thrown === late || !limit.isDeadline) throw thrown;
    throw Object.assign(late, { cause: thrown });
  } finally {
    clearTimeout(timer);
  }
}
