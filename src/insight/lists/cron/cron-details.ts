// Reads one cron entry: its row in the list, its definition if it is a schedule, and its next ticks.
import type { Database } from "../../../database/database.ts";
import { clockOf, nextClockChange } from "../../../domain/cron/time-zone.ts";
import type { StoredSchedule } from "../../../queue/schedules/schedule-row.ts";
import { readValidSchedule } from "../../read/list-schedules.ts";
import { scheduleOf } from "./cron-ticks.ts";
import { entriesNamed, type ListedCronEntry } from "./list-cron.ts";

export interface CronDetails {
  /** The entries with this identifier, at least one: the schedule, then the entry in code. */
  readonly entries: readonly ListedCronEntry[];
  /** The definition of the schedule; null for an entry in code, and for an invalid row. */
  readonly schedule: StoredSchedule | null;
  /**
   * The next ticks of `entries[0]`. Empty if the entry is paused or never due, or its pattern is unknown or
   * unsupported.
   */
  readonly ticks: readonly NextTick[];
  /** A sentence about the next change of the zone's clock within a year; null: none, or `ticks` is empty. */
  readonly clockChange: string | null;
}

export interface NextTick {
  readonly atMs: number;
  /** The time in the zone, such as `Thu 26 Nov 03:00`. A time of another year includes the year. */
  readonly local: string;
  /** The time in UTC, in the form of `local`. */
  readonly utc: string;
  readonly isAfterChange: boolean;
}

/** The number of next ticks. The first tick after the next clock change is added. */
const TICKS = 5;

/** Returns null if there is no entry with this identifier. */
export async function readCronDetails(
  db: Database,
  identifier: string,
): Promise<CronDetails | null> {
  const { entries, nowMs } = await entriesNamed(db, identifier);
  const [first] = entries;
  if (first === undefined) return null;
  const schedule = first.source === "schedule" ? await readValidSchedule(db, identifier) : null;
  const timeZone = first.timeZone ?? "UTC";
  const pattern = first.match === null ? null : scheduleOf(first.match, timeZone);
  if (pattern === null || first.nextExecutionMs === null || first.pausedMs !== null) {
    return { entries, schedule, ticks: [], clockChange: null };
  }
  const times = [first.nextExecutionMs];
  for (let last = first.nextExecutionMs; times.length < TICKS; ) {
    const next = pattern.next(last + 1);
    if (next === null) break;
    times.push(next);
    last = next;
  }
  const change = timeZone === "UTC" ? null : nextClockChange(nowMs, timeZone);
  const afterMs = change === null ? null : pattern.next(change.atMs);
  if (afterMs !== null && !times.includes(afterMs)) times.push(afterMs);
  const year = new Date(nowMs).getUTCFullYear();
  const text = (ms: number, zone: string) => tickText(clockOf(ms, zone), year);
  const ticks = times
    .toSorted((a, b) => a - b)
    .map((atMs) => ({
      ...{ atMs, local: text(atMs, timeZone), utc: text(atMs, "UTC") },
      isAfterChange: change !== null && atMs >= change.atMs,
    }));
  return { entries, schedule, ticks, clockChange: change === null ? null : changeText(change) };

  function changeText({ atMs, byMs }: { readonly atMs: number; readonly byMs: number }): string {
    const day = text(atMs, timeZone).slice(0, -6);
    const by = Math.abs(byMs) / 60_000;
    const amount = by % 60 === 0 ? `${by / 60} h` : `${by} min`;
    return `${day}: the clock of ${timeZone} goes ${byMs > 0 ? "forward" : "back"} by ${amount}.`;
  }
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** `clock`: a date whose fields in UTC are the local time. */
function tickText(clock: Date, thisYear: number): string {
  const year = clock.getUTCFullYear();
  const day = `${WEEKDAYS[clock.getUTCDay()]} ${clock.getUTCDate()} ${MONTHS[clock.getUTCMonth()]}`;
  return `${day}${year === thisYear ? "" : ` ${year}`} ${clock.toISOString().slice(11, 16)}`;
}
