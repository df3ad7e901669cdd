// Retries with exponential backoff and jitter.
import { wait } from "./clock.ts";

export interface BackoffOptions {
  /** First delay before jitter, in milliseconds. Default 100. */
  readonly firstMs?: number;
  /** Longest delay before jitter, in milliseconds. Default 10,000. */
  readonly longestMs?: number;
}

/**
 * Returns the delay in milliseconds after the failed attempt `attempt` (0-based). The delay doubles with each attempt,
 * up to `longestMs`, and varies at random by ± 25 %.
 */
export function backoffDelay(attempt: number, options: BackoffOptions = {}): number {
  const { firstMs = 100, longestMs = 10_000 } = options;
  const base = Math.min(longestMs, firstMs * 2 ** Math.min(attempt, 30));
  return base * (0.75 + Math.random() * 0.5);
}

export interface RetryOptions extends Omit<BackoffOptions, "longestMs"> {
  /** Longest delay before jitter, in milliseconds. A function is called before each delay. Default 10,000. */
  readonly longestMs?: number | (() => number);
  /** Ends the retries. */
  readonly signal: AbortSignal;
  onError(error: unknown): void;
  /** Waits between two attempts. The wait may end early. Default: wait() of clock.ts. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Calls `work` until `work` ends without an error. After a call of `succeeded`, the delays begin again at `firstMs`.
 * Resolves to true when `work` has ended without an error, and to false if `signal` aborts earlier.
 */
export async function runWithRetries(
  work: (succeeded: () => void) => Promise<void>,
  { signal, onError, pause = wait, firstMs = 100, longestMs = 10_000 }: RetryOptions,
): Promise<boolean> {
  let failures = 0;
  const succeeded = () => {
    failures = 0;
  };
  while (!signal.aborted) {
    try {
      await work(succeeded);
      return true;
    } catch (error) {
      onError(error);
    }
    const longest = typeof longestMs === "function" ? longestMs() : longestMs;
    await pause(backoffDelay(failures++, { firstMs, longestMs: longest }), signal);
  }
  return false;
}
