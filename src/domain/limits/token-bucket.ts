// The rate of a limit as a bucket of tokens. Each start of a job takes one token.
import type { FullRate } from "./limit.ts";

export interface TokenBucket {
  /** The time in which one token is added. */
  readonly intervalMs: number;
  /** The most tokens in the bucket, at least 1. */
  readonly capacity: number;
  /** How long a worker may keep a token before its job starts. */
  readonly lapseMs: number;
}

const MAX_LAPSE_MS = 100;

/**
 * Returns the bucket of a rate. At most `limit` + `burst` jobs start in any period of `perMs`. A job may start up to
 * `lapseMs` after its token was taken. So the jobs that start in such a period may have taken their tokens in a period
 * of `perMs` + `lapseMs`. For this reason, the bucket's capacity is `burst` minus the tokens that are added in
 * `lapseMs`, but at least 1.
 */
export function tokenBucket({ limit, perMs, burst }: FullRate): TokenBucket {
  const intervalMs = perMs / limit;
  const lapseMs = Math.min(MAX_LAPSE_MS, (burst * intervalMs) / 4);
  return { intervalMs, lapseMs, capacity: Math.max(1, burst - lapseMs / intervalMs) };
}
