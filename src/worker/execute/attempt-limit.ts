// The time limit of an attempt: its task's timeout or its job's deadline.
import { clearTimeout, MAX_TIMER_MS, now, setTimeout } from "../../base/clock.ts";
import { pastDeadline } from "../../domain/words.ts";
import { PermanentFailure } from "../task/outcomes.ts";
import { errorWithoutStack, type Result } from "./verdict.ts";

/** The time after which an attempt ends, and its error. */
export interface AttemptLimit {
  readonly afterMs: number;
  readonly error: () => Error;
}

/** Returns the earlier of the timeout and the job's deadline. */
export function limitOf(
  timeoutMs: number | undefined,
  deadlineMs: number | null,
): AttemptLimit | undefined {
  const leftMs = deadlineMs === null ? Number.POSITIVE_INFINITY : deadlineMs - now();
  if (deadlineMs !== null && leftMs <= (timeoutMs ?? MAX_TIMER_MS)) {
    return { afterMs: Math.max(0, leftMs), error: () => deadlinePassed(deadlineMs) };
  }
  if (timeoutMs === undefined) return undefined;
  return { afterMs: timeoutMs, error: () => errorWithoutStack(`timed out after ${timeoutMs} ms`) };
}

export function deadlinePassed(deadlineMs: number): Error {
  // Flags may hold times beyond the range of Date.
  const time = deadlineMs <= LAST_DATE_MS ? new Date(deadlineMs).toISOString() : `${deadlineMs} ms`;
  const error = new PermanentFailure(pastDeadline(time));
  return Object.assign(error, { stack: error.message });
}

const LAST_DATE_MS = 8.64e15;

/**
 * Rejects when the time limit is reached. The handler is not waited for any longer, except if its transaction completes
 * the job: that transaction decides about the attempt, and until its end no result can be written.
 */
export async function withAttemptLimit(
  judged: Promise<Result>,
  attempt: { readonly isCompletedByTask: boolean; abort(reason: Error): void },
  limit: AttemptLimit,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = limit.error();
      attempt.abort(error);
      if (!attempt.isCompletedByTask) reject(error);
    }, limit.afterMs);
  });
  judged.catch(() => {});
  try {
    return await Promise.race([judged, late]);
  } finally {
    clearTimeout(timer);
  }
}
