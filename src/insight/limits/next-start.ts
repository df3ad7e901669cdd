// Calculates when a rate allows the next start. The table _private_rates contains the theoretical arrival time: the
// time at which all tokens will be available again if no job starts before that.
import type { LimitDefinition } from "../../domain/limits/limit.ts";
import { tokenBucket } from "../../domain/limits/token-bucket.ts";

/**
 * Returns the milliseconds until the next job may start; 0: now. `aheadMs`: the theoretical arrival time, in
 * milliseconds from now. If it is null, because none was read, all tokens count as available.
 */
export function nextStartMs({ rate }: LimitDefinition, aheadMs: number | null): number {
  if (rate === null || aheadMs === null) return 0;
  const { intervalMs, capacity } = tokenBucket(rate);
  return Math.max(0, aheadMs + intervalMs - capacity * intervalMs);
}

/** If the theoretical arrival time is longer ago than this, the rate is not nearly used up. */
const RECENT_MS = 2_000;

/**
 * Whether jobs are starting about as fast as the rate allows: at most half of the tokens are left, or at most one. So
 * even if the result is true, a job may be allowed to start now.
 */
export function isNearlyUsedUp({ rate }: LimitDefinition, aheadMs: number): boolean {
  if (rate === null || aheadMs < -RECENT_MS) return false;
  const { intervalMs, capacity } = tokenBucket(rate);
  return capacity - Math.max(0, aheadMs) / intervalMs <= Math.max(1, capacity / 2);
}
