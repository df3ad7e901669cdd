// The ticks of a schedule that are due, from its next tick on. Pure: the time is a parameter.
import { cronSchedule } from "../../domain/cron/cron-schedule.ts";
import type { StoredSchedule } from "../../queue/schedules/schedule-row.ts";
import type { ScheduleOffer } from "../../queue/schedules/schedule-ticks.ts";
import { CATCH_UP_MS, type DueTick } from "./cron-timeline.ts";

/** A tick that is added later than this is marked as backfilled. */
const LATE_MS = 60_000;

export interface ScheduleTick
  extends DueTick,
    Pick<ScheduleOffer, "revision" | "overlap" | "fromMs" | "toMs"> {
  readonly schedule: StoredSchedule;
  /** It only moves the schedule to its next tick. */
  readonly isDropped: boolean;
}

/** When a worker looks at a schedule. */
export interface Look {
  readonly nowMs: number;
  /** The worker's start: earlier ticks are added as far back as the backfill period. */
  readonly startMs: number;
  /** The most ticks to return. */
  readonly most: number;
}

/** Returns the due ticks, earliest first: each from the `next_at` that the one before it leaves. */
export function dueSteps(schedule: StoredSchedule, { nowMs, startMs, most }: Look): ScheduleTick[] {
  const { definition, revision, nextMs: firstMs } = schedule;
  const { entry, overlap } = definition;
  const times = cronSchedule(entry.expression, entry.timeZone);
  if (firstMs === null || firstMs > nowMs) return [];
  const oldestMs = Math.max(startMs, nowMs - CATCH_UP_MS) - entry.fillMs;
  let tickMs = firstMs < oldestMs ? (times.next(oldestMs) ?? Number.POSITIVE_INFINITY) : firstMs;
  const common = { schedule, entry, revision, overlap };
  if (tickMs > nowMs) {
    const step = { tickMs: firstMs, fromMs: firstMs, toMs: finite(tickMs) };
    return [{ ...common, ...step, isBackfill: true, isDropped: true }];
  }
  const steps: ScheduleTick[] = [];
  for (let fromMs = firstMs; tickMs <= nowMs && steps.length < most; ) {
    const nextMs = times.next(tickMs + 1) ?? Number.POSITIVE_INFINITY;
    const isBackfill = tickMs < nowMs - LATE_MS;
    steps.push({ ...common, tickMs, fromMs, toMs: finite(nextMs), isBackfill, isDropped: false });
    fromMs = tickMs = nextMs;
  }
  return steps;
}

const finite = (ms: number): number | null => (Number.isFinite(ms) ? ms : null);
