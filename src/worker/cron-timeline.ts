// Which ticks have come and are not yet handled, entry by entry. Pure: it is told the time, and
// moves on only when it is told that ticks were handled, so that nothing is lost in between.
import type { CronEntry } from "../domain/cron-entry.ts";
import { type CronSchedule, cronSchedule } from "../domain/cron-schedule.ts";
import type { KnownCrontab } from "../queue/known-crontabs.ts";

/**
 * What a worker that runs makes up for after it slept or the database was away: the ticks of this
 * long, and of the entry's fill window on top. Older ones are dropped.
 */
export const CATCH_UP_MS = 24 * 60 * 60_000;

export interface DueTick {
  readonly entry: CronEntry;
  readonly tick_ms: number;
  /** From before the start. */
  readonly isBackfill: boolean;
}

interface Line {
  readonly entry: CronEntry;
  readonly schedule: CronSchedule;
  /** The first tick that is not handled; infinite when there is none. */
  next_ms: number;
}

export class CronTimeline {
  readonly #start_ms: number;
  readonly #lines: readonly Line[];

  /**
   * Starts at `start_ms`, and for entries with a fill window so much earlier, but not before they
   * were known or had their last tick (what Graphile Worker calls backfilling).
   */
  constructor(entries: readonly CronEntry[], known: readonly KnownCrontab[], start_ms: number) {
    this.#start_ms = start_ms;
    const ledger = new Map(known.map((one) => [one.identifier, one]));
    this.#lines = entries.map((entry) => {
      const { knownSince_ms = start_ms, lastExecution_ms = null } =
        ledger.get(entry.identifier) ?? {};
      const since_ms = lastExecution_ms === null ? knownSince_ms : lastExecution_ms + 1;
      const from_ms = Math.max(start_ms - entry.fill_ms, since_ms);
      const schedule = cronSchedule(entry.expression);
      return { entry, schedule, next_ms: nextOf(schedule, Math.min(from_ms, start_ms)) };
    });
  }

  /** The ticks that have come by `now_ms`, at most `most`, the earliest first. */
  due(now_ms: number, most: number): DueTick[] {
    const due: DueTick[] = [];
    const cursors = this.#lines.map(({ next_ms }) => next_ms);
    while (due.length < most) {
      const place = earliest(cursors);
      const line = this.#lines[place];
      const tick_ms = cursors[place] ?? Number.POSITIVE_INFINITY;
      if (line === undefined || !(tick_ms <= now_ms)) break;
      due.push({ entry: line.entry, tick_ms, isBackfill: tick_ms < this.#start_ms });
      cursors[place] = nextOf(line.schedule, tick_ms + 1);
    }
    return due;
  }

  /** These ticks, and all before them, are done with. */
  handled(due: readonly DueTick[]): void {
    const last_ms = new Map(due.map(({ entry, tick_ms }) => [entry, tick_ms]));
    for (const line of this.#lines) {
      const tick_ms = last_ms.get(line.entry);
      if (tick_ms !== undefined) line.next_ms = nextOf(line.schedule, tick_ms + 1);
    }
  }

  /** Gives up ticks that are overdue beyond the bound; returns the entries that lost some. */
  dropOverdue(now_ms: number): CronEntry[] {
    const late = this.#lines.filter(
      ({ entry, next_ms }) => next_ms < now_ms - CATCH_UP_MS - entry.fill_ms,
    );
    for (const line of late) {
      line.next_ms = nextOf(line.schedule, now_ms - CATCH_UP_MS - line.entry.fill_ms);
    }
    return late.map(({ entry }) => entry);
  }

  /** When the next tick comes; infinite when none does. */
  get next_ms(): number {
    return this.#lines.reduce(
      (least_ms, { next_ms }) => Math.min(least_ms, next_ms),
      Number.POSITIVE_INFINITY,
    );
  }
}

function nextOf(schedule: CronSchedule, from_ms: number): number {
  return schedule.next(from_ms) ?? Number.POSITIVE_INFINITY;
}

/** The place of the smallest, the first of equals: entries of one tick keep their order. */
function earliest(values: readonly number[]): number {
  let place = 0;
  for (let other = 1; other < values.length; other++) {
    if ((values[other] ?? 0) < (values[place] ?? 0)) place = other;
  }
  return place;
}
