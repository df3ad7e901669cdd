// The time limit of an attempt: the timeout of its task or worker, or the deadline of its job, whichever is earlier.
import { clearTimeout, MAX_TIMER_MS, now, setTimeout } from "../../base/clock.ts";
import { pastDeadline } from "../../domain/words.ts";
import { PermanentFailure } from "../task/outcomes.ts";
import { errorWithoutStack, type Result } from "./verdict.ts";

/** The time after which an attempt fails, and the error of this failure. */
export interface AttemptLimit {
  readonly afterMs: number;
  readonly error: () => Error;
  readonly isDeadline: boolean;
}

const endings = new WeakMap<object, number>();

/**
 * Marks a task that starts a program, and that ends within `withinMs` after its signal aborts. If an attempt of this
 * task reaches its time limit, the attempt fails when the task ends, at the latest after `withinMs`. Before that, the
 * program may still run, so the next attempt must not start.
 */
export function endsWithin<T extends object>(task: T, withinMs: number): T {
  endings.set(task, withinMs);
  return task;
}

/** Returns the limit; undefined if there is no timeout, and no deadline within MAX_TIMER_MS. */
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
  // The deadline comes from a flag of the job, which may contain a time beyond the range of Date.
  const time = deadlineMs <= LAST_DATE_MS ? new Date(deadlineMs).toISOString() : `${deadlineMs} ms`;
  const error = new PermanentFailure(pastDeadline(time));
  return Object.assign(error, { stack: error.message });
}

const LAST_DATE_MS = 8.64e15;

interface LimitedAttempt {
  readonly task: object;
  readonly isCompletedByTask: boolean;
  abort(reason: Error): void;
}

/**
 * Resolves to the result of an attempt. At the limit, aborts the signal and rejects; endsWithin() delays the rejection.
 * If a transaction of the task completes the job, the limit only aborts the signal, because no result can be written
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
    // After a timeout, the error of a marked task is thrown, because this error has more detail, such as a program's
    // stderr. After a deadline, the deadline's error is thrown, because this error prevents retries.
    if (late === undefined || thrown === late || !limit.isDeadline) throw thrown;
    throw Object.assign(late, { cause: thrown });
  } finally {
    clearTimeout(timer);
  }
}
