// Trying again: exponential backoff with jitter, bounded in delay.
import { wait } from "./clock.ts";

export interface BackoffOptions {
  /** First delay, milliseconds. Default 100. */
  readonly firstMs?: number;
  /** Longest delay, milliseconds. Default 10,000. */
  readonly longestMs?: number;
}

/** The delay before attempt `attempt` (0-based): doubled each time, ± 25 % so that many do not march in step. */
export function backoffDelay(attempt: number, options: BackoffOptions = {}): number {
  const { firstMs = 100, longestMs = 10_000 } = options;
  const base = Math.min(longestMs, firstMs * 2 ** Math.min(attempt, 30));
  return base * (0.75 + Math.random() * 0.5);
}

export interface RetryOptions extends Omit<BackoffOptions, "longestMs"> {
  /** Longest delay, milliseconds; a function is asked before each. Default 10,000. */
  readonly longestMs?: number | (() => number);
  /** Ends the tries. */
  readonly signal: AbortSignal;
  onError(error: unknown): void;
  /** How to pause between two tries, where something else may end a pause early. Default: the clock's. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Does `work` until it does not throw, with a longer pause after each failure. `work` calls
 * `succeeded` where it got on before it failed: the pauses then begin anew with a short one.
 * False when `signal` ended it. Never rejects.
 */
export async function retrying(
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
