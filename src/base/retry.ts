// Exponential backoff with jitter, bounded in delay.

export interface BackoffOptions {
  /** First delay, milliseconds. Default 100. */
  readonly first_ms?: number;
  /** Longest delay, milliseconds. Default 10,000. */
  readonly longest_ms?: number;
}

/** The delay before attempt `attempt` (0-based): doubled each time, ± 25 % so that many do not march in step. */
export function backoffDelay(attempt: number, options: BackoffOptions = {}): number {
  const { first_ms = 100, longest_ms = 10_000 } = options;
  const base = Math.min(longest_ms, first_ms * 2 ** Math.min(attempt, 30));
  return base * (0.75 + Math.random() * 0.5);
}
