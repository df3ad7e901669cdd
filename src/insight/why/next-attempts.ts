// Computes when a job's next attempts are due if each of them fails. The times after the first one are known only if
// Graphile Worker's delays apply to the job.
import { retryDelayMs } from "../../queue/settle/retry-policy.ts";

export interface NextAttempts {
  /** The times of up to six attempts, soonest first. */
  readonly next: readonly string[];
  /** The time of the last attempt; null if `next` already has all attempts, or if this time is unknown. */
  readonly last: string | null;
}

interface RetriedJob {
  readonly runAtMs: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Whether Graphile Worker's delays apply. */
  readonly hasFormulaDelay: boolean;
  /** No attempt begins after this time, in milliseconds since 1970; null: the job has no deadline. */
  readonly deadlineMs: number | null;
}

const MAX_ATTEMPTS = 6;

/**
 * Returns the times of the next attempts, as if each attempt failed as soon as it began. Attempts after the deadline or
 * the year 9999 are left out. The first time is `runAtMs`. Without `hasFormulaDelay`, for example under a retry policy,
 * only this time is returned.
 */
export function nextAttempts(job: RetriedJob): NextAttempts {
  const { runAtMs, attempts, maxAttempts, hasFormulaDelay, deadlineMs } = job;
  const latestMs = Math.min(LATEST_MS, deadlineMs ?? LATEST_MS);
  if (!hasFormulaDelay) {
    return {
      next: attempts < maxAttempts && runAtMs <= latestMs ? [text(runAtMs)] : [],
      last: null,
    };
  }
  const times: number[] = [];
  let at = runAtMs;
  for (let attempt = attempts + 1; attempt <= maxAttempts && at <= latestMs; attempt++) {
    times.push(at);
    at += retryDelayMs(attempt);
  }
  const last = times.at(-1);
  return {
    next: times.slice(0, MAX_ATTEMPTS).map(text),
    last: last === undefined || times.length <= MAX_ATTEMPTS ? null : text(last),
  };
}

const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");
const text = (ms: number) => new Date(ms).toISOString();
