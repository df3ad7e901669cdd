// The times of the next attempts of a job that keeps failing, by the retry policy.
import { retryDelayMs } from "../../queue/settle/retry-policy.ts";

export interface NextAttempts {
  /** The times of the next attempts, soonest first. */
  readonly next: readonly string[];
  /** The time of the very last attempt; null if it is among them. */
  readonly last: string | null;
}

const MAX_ATTEMPTS = 6;

/** Returns the times. `runAtMs`: when the next attempt is due. Each attempt is assumed to fail at once. */
export function nextAttempts(runAtMs: number, attempts: number, maxAttempts: number): NextAttempts {
  const times: number[] = [];
  let at = runAtMs;
  for (let attempt = attempts + 1; attempt <= maxAttempts && at <= LATEST_MS; attempt++) {
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
