// When a rate allows the next start, from its theoretical arrival time.
import type { LimitDefinition, WholeRate } from "../../domain/limits/limit.ts";

/** Returns the time in milliseconds; 0: now. `aheadMs`: how far the theoretical arrival time is ahead; null: it is not. */
export function nextStartMs({ rate }: LimitDefinition, aheadMs: number | null): number {
  if (rate === null || aheadMs === null) return 0;
  const intervalMs = rate.perMs / rate.limit;
  return Math.max(0, aheadMs + intervalMs - capacity(rate) * intervalMs);
}

/** How long ago the last token of a rate that is nearly used up was taken at most. */
const RECENT_MS = 2_000;

/**
 * Whether jobs start as fast as the rate allows, although one may start at this moment: less than half of the tokens
 * are there.
 */
export function isNearlyUsedUp({ rate }: LimitDefinition, aheadMs: number): boolean {
  if (rate === null || aheadMs < -RECENT_MS) return false;
  const most = capacity(rate);
  return most - Math.max(0, aheadMs) / (rate.perMs / rate.limit) <= Math.max(1, most / 2);
}

/** Tokens lapse after this time, or half of the time in which a burst builds up. */
const LAPSE_MS = 100;

/** Returns the number of tokens that are taken at once: less than the burst, by what may lapse unused. */
function capacity({ limit, perMs, burst }: WholeRate): number {
  const lapseMs = Math.min(LAPSE_MS, (burst * perMs) / limit / 2);
  return Math.max(1, burst - (lapseMs * limit) / perMs);
}
