// Determines when a job is retried.
//   attempt n ──fails──▶ n < max_attempts: the job is due again after the delay of attempt n
//                    └─▶ n ≥ max_attempts: the job is failed, and is not retried automatically
// By default the delay is that of Graphile Worker, exp(least(n, 10)) seconds: 2.7 s, 7.4 s, 20 s, … and 6 hours from
// the tenth attempt on.

/**
 * Returns an SQL expression: when the next attempt is due. The delay begins at `end`, the end of the attempt, or at a
 * later `run_at` if the running job was rescheduled.
 */
export const retryAt = (job: string, end: string, delay: string): string =>
  `greatest(${end}, ${job}.run_at) + ${delay}`;

/**
 * Returns an SQL expression: when attempts have ended. In the fast mode (`row`), now() is too early, because the
 * attempts run while the transaction is open.
 */
export const endOfAttempts = (mode: "locked_by" | "row"): string =>
  `pg_catalog.${mode === "row" ? "statement_timestamp" : "now"}()`;

const MAX_DELAY_EXPONENT = 10;

export const delayOf = (attempts: string) =>
  `pg_catalog.exp(least(${attempts}, ${MAX_DELAY_EXPONENT})) * interval '1 second'`;

/** Returns the delay in milliseconds after attempt `attempt` (1-based). */
export const retryDelayMs = (attempt: number): number =>
  Math.exp(Math.min(attempt, MAX_DELAY_EXPONENT)) * 1_000;
