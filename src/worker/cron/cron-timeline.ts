// Computes the due ticks of cron entries. Keeps for each entry the first tick that is not handled.
import type { CronEntry } from "../../domain/cron/cron-entry.ts";
import { type CronSchedule, cronSchedule } from "../../domain/cron/cron-schedule.ts";
import type { KnownCrontab } from "../../queue/cron/known-crontabs.ts";

/**
 * The age up to which a running worker handles ticks that it missed, for example in an outage. An entry's backfill
 * period is added to this age.
 */
export const CATCH_UP_MS = 24 * 60 * 60_000;

export interface DueTick {
  readonly entry: CronEntry;
  readonly tickMs: number;
  /**
   * For a cron entry of the program: whether the tick is before the timetable's start. For a schedule: whether the tick
   * is over a minute late, or is dropped.
   */
  readonly isBackfill: boolean;
  /** Whether the tick adds no job, because it is too old. Only ticks of schedules have this member. */
  readonly isDropped?: boolean;
}

interface Line {
  readonly entry: CronEntry;
  readonly schedule: CronSchedule;
  /** The first tick that is not handled; infinite if there is none. */
  nextMs: number;
}

export class CronTimeline {
  readonly #startMs: number;
  readonly #lines: readonly Line[];

  /**
   * The ticks of an entry begin at `startMs`. A backfill period moves this beginning back, but not beyond the entry's
   * last execution or, if there was none, the entry's registration in the database.
   */
  constructor(entries: readonly CronEntry[], stored: readonly KnownCrontab[], startMs: number) {
    this.#startMs = startMs;
    const ledger = new Map(stored.map((one) => [one.identifier, one]));
    this.#lines = entries.map((entry) => {
      const { knownSinceMs = startMs, lastExecutionMs = null } = ledger.get(entry.identifier) ?? {};
      const sinceMs = lastExecutionMs === null ? knownSinceMs : lastExecutionMs + 1;
      const fromMs = Math.max(startMs - entry.fillMs, sinceMs);
      const schedule = cronSchedule(entry.expression, entry.timeZone);
      return { entry, schedule, nextMs: nextOf(schedule, Math.min(fromMs, startMs)) };
    });
  }

  /** Returns the ticks that are due at `nowMs`, at most `most`, earliest first. */
  due(nowMs: number, most: number): DueTick[] {
    const due: DueTick[] = [];
    const cursors = this.#lines.map(({ nextMs }) => nextMs);
    while (due.length < most) {
      const index = earliest(cursors);
      const line = this.#lines[index];
      const tickMs = cursors[index] ?? Number.POSITIVE_INFINITY;
      if (line === undefined || !(tickMs <= nowMs)) break;
      due.push({ entry: line.entry, tickMs, isBackfill: tickMs < this.#startMs });
      cursors[index] = nextOf(line.schedule, tickMs + 1);
    }
    return due;
  }

  /** Marks these ticks, and all earlier ones of their entries, as handled. */
  markHandled(due: readonly DueTick[]): void {
    const lastMs = new Map(due.map(({ entry, tickMs }) => [entry, tickMs]));
    for (const line of this.#lines) {
      const tickMs = lastMs.get(line.entry);
      if (tickMs !== undefined) line.nextMs = nextOf(line.schedule, tickMs + 1);
    }
  }

  /** Drops ticks that are too old (CATCH_UP_MS). Returns the entries of the dropped ticks. */
  dropOverdue(nowMs: number): CronEntry[] {
    const late = this.#lines.filter(
      ({ entry, nextMs }) => nextMs < nowMs - CATCH_UP_MS - entry.fillMs,
    );
    for (const line of late) {
      line.nextMs = nextOf(line.schedule, nowMs - CATCH_UP_MS - line.entry.fillMs);
    }
    return late.map(({ entry }) => entry);
  }

  /** All entries, each with its first tick that is not handled. */
  get ticks(): readonly { readonly entry: CronEntry; readonly nextMs: number }[] {
    return this.#lines;
  }

  /** The first of all ticks that are not handled; infinite if there is none. */
  get nextMs(): number {
    return this.#lines.reduce(
      (leastMs, { nextMs }) => Math.min(leastMs, nextMs),
      Number.POSITIVE_INFINITY,
    );
  }
}

function nextOf(schedule: CronSchedule, fromMs: number): number {
  return schedule.next(fromMs) ?? Number.POSITIVE_INFINITY;
}

/** Returns the first index of the smallest value, so that entries with the same tick keep their order. */
function earliest(values: readonly number[]): number {
  let index = 0;
  for (let other = 1; other < values.length; other++) {
    if ((values[other] ?? 0) < (values[index] ?? 0)) index = other;
  }
  return index;
}
