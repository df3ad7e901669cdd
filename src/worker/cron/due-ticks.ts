// Computes which ticks of a schedule are due. Pure: the time is a parameter.
import { cronSchedule } from "../../domain/cron/cron-schedule.ts";
import type { StoredSchedule } from "../../queue/schedules/schedule-row.ts";
import type { ScheduleOffer } from "../../queue/schedules/schedule-ticks.ts";
import { CATCH_UP_MS, type DueTick } from "./cron-timeline.ts";

/** A tick that is added more than this many milliseconds after its time is marked as backfilled. */
const LATE_MS = 60_000;

export interface ScheduleTick
  extends DueTick,
    Pick<ScheduleOffer, "revision" | "overlap" | "fromMs" | "toMs"> {
  readonly schedule: StoredSchedule;
  /**
   * Whether the schedule's due ticks are all too old. If so, this tick adds no job, and the schedule only moves to its
   * next tick.
   */
  readonly isDropped: boolean;
}

/** Which ticks of a schedule to return. */
export interface TickRequest {
  readonly nowMs: number;
  /**
   * The time at which the worker started. Earlier ticks are added only if they are within the schedule's backfill
   * period.
   */
  readonly startMs: number;
  /** The maximum number of ticks to return. */
  readonly most: number;
}

/**
 * Returns the due ticks that are not too old, earliest first. If all due ticks are too old, returns one tick, with
 * `isDropped`.
 */
export function dueTicks(
  schedule: StoredSchedule,
  { nowMs, startMs, most }: TickRequest,
): ScheduleTick[] {
  const { definition, revision, nextMs: firstMs } = schedule;
  const { entry, overlap } = definition;
  const times = cronSchedule(entry.expression, entry.timeZone);
  if (firstMs === null || firstMs > nowMs) return [];
  const oldestMs = Math.max(startMs, nowMs - CATCH_UP_MS) - entry.fillMs;
  let tickMs = firstMs < oldestMs ? (times.next(oldestMs) ?? Number.POSITIVE_INFINITY) : firstMs;
  const common = { schedule, entry, revision, overlap };
  if (tickMs > nowMs) {
    const tick = { tickMs: firstMs, fromMs: firstMs, toMs: finiteOrNull(tickMs) };
    return [{ ...common, ...tick, isBackfill: true, isDropped: true }];
  }
  const ticks: ScheduleTick[] = [];
  for (let fromMs = firstMs; tickMs <= nowMs && ticks.length < most; ) {
    const nextMs = times.next(tickMs + 1) ?? Number.POSITIVE_INFINITY;
    const isBackfill = tickMs < nowMs - LATE_MS;
    const toMs = finiteOrNull(nextMs);
    ticks.push({ ...common, tickMs, fromMs, toMs, isBackfill, isDropped: false });
    fromMs = tickMs = nextMs;
  }
  return ticks;
}

const finiteOrNull = (ms: number): number | null => (Number.isFinite(ms) ? ms : null);
