// Computes the ticks of cron expressions in the database, which another program may have written. A tick takes up to
// 0.1 ms, so a list of entries is processed in slices.
import { inSlices } from "../../../base/slices.ts";
import { type CronSchedule, cronSchedule } from "../../../domain/cron/cron-schedule.ts";

/** Returns null for a pattern or a zone that this version does not support. */
export function scheduleOf(pattern: string, timeZone: string): CronSchedule | null {
  try {
    return cronSchedule(pattern, timeZone);
  } catch {
    return null;
  }
}

/** The end of the range of a Date, in milliseconds since 1970. PostgreSQL's infinity is outside this range. */
const LATEST_MS = 8.64e15;

/** Returns the first tick at or after `fromMs`; null if there is none. */
export function nextTick(schedule: CronSchedule | null, fromMs: number): number | null {
  return Math.abs(fromMs) > LATEST_MS ? null : (schedule?.next(fromMs) ?? null);
}

interface CronEntry {
  readonly match: string | null;
  readonly timeZone: string | null;
  readonly pausedMs: number | null;
}

/**
 * For each entry, returns the quarters of an hour after `nowMs`, numbered from 0 to 95, in which the entry has a tick.
 * 96 quarters can take 6 ms, so entries with the same expression and time zone share the result.
 */
export async function quartersAhead(
  entries: readonly CronEntry[],
  nowMs: number,
): Promise<(readonly number[])[]> {
  const known = new Map<CronSchedule | null, readonly number[]>();
  const found: (readonly number[])[] = [];
  await inSlices(entries, ({ match, timeZone, pausedMs }) => {
    const isOff = match === null || pausedMs !== null;
    const schedule = isOff ? null : scheduleOf(match, timeZone ?? "UTC");
    const quarters = known.get(schedule) ?? quartersOf(schedule, nowMs);
    known.set(schedule, quarters);
    found.push(quarters);
  });
  return found;
}

const QUARTER_MS = 900_000;
const QUARTERS_OF_A_DAY = 96;

function quartersOf(schedule: CronSchedule | null, nowMs: number): number[] {
  const quarters: number[] = [];
  for (let next = 0; schedule !== null && next < QUARTERS_OF_A_DAY; ) {
    const tickMs = schedule.next(nowMs + next * QUARTER_MS);
    if (tickMs === null) break;
    const quarter = Math.floor((tickMs - nowMs) / QUARTER_MS);
    if (quarter < QUARTERS_OF_A_DAY) quarters.push(quarter);
    next = quarter + 1;
  }
  return quarters;
}
