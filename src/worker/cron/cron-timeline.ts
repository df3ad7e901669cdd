// Which ticks have come and are not yet handled, entry by entry. Pure: it is given the time, and
// moves on only when it hears that ticks were handled, so that nothing is lost in between.
import type { CronEntry } from "../../domain/cron/cron-entry.ts";
import { type CronSchedule, cronSchedule } from "../../domain/cron/cron-schedule.ts";
import type { KnownCrontab } from "../../queue/cron/known-crontabs.ts";

/**
 * What a worker that runs makes up for after it slept or the database was away: the ticks of this
 * long, and of the entry's fill window on top. Older ones are dropped.
 */
export const CATCH_UP_MS = 24 * 60 * 60_000;

export interface DueTick {
  readonly entry: CronEntry;
  readonly tickMs: number;
  /** From before the start. */
  readonly isBackfill: boolean;
}

interface Line {
  readonly entry: CronEntry;
  readonly schedule: CronSchedule;
  /** The first tick that is not handled; infinite when there is none. */
  nextMs: number;
}

export class CronTimeline {
  readonly #startMs: number;
  readonly #lines: readonly Line[];

  /**
   * Starts at `startMs`, and for entries with a fill window so much earlier, but not before they
   * were known or had their last tick (what Graphile Worker calls backfilling).
   */
  constructor(entries: readonly CronEntry[], known: readonly KnownCrontab[], startMs: number) {
    this.#startMs = startMs;
    const ledger = new Map(known.map((one) => [one.identifier, one]));
    this.#lines = entries.map((entry) => {
      const { knownSinceMs = startMs, lastExecutionMs = null } = ledger.get(entry.identifier) ?? {};
      const sinceMs = lastExecutionMs === null ? knownSinceMs : lastExecutionMs + 1;
      const fromMs = Math.max(startMs - entry.fillMs, sinceMs);
      const schedule = cronSchedule(entry.expression);
      return { entry, schedule, nextMs: nextOf(schedule, Math.min(fromMs, startMs)) };
    });
  }

  /** The ticks that have come by `nowMs`, at most `most`, the earliest first. */
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

  /** These ticks, and all before them, are done with. */
  handled(due: readonly DueTick[]): void {
    const lastMs = new Map(due.map(({ entry, tickMs }) => [entry, tickMs]));
    for (const line of this.#lines) {
      const tickMs = lastMs.get(line.entry);
      if (tickMs !== undefined) line.nextMs = nextOf(line.schedule, tickMs + 1);
    }
  }

  /** Gives up ticks that are overdue beyond the bound; returns the entries that lost some. */
  dropOverdue(nowMs: number): CronEntry[] {
    const late = this.#lines.filter(
      ({ entry, nextMs }) => nextMs < nowMs - CATCH_UP_MS - entry.fillMs,
    );
    for (const line of late) {
      line.nextMs = nextOf(line.schedule, nowMs - CATCH_UP_MS - line.entry.fillMs);
    }
    return late.map(({ entry }) => entry);
  }

  /** Every entry with the first of its ticks that is not handled; infinite when there is none. */
  get ticks(): readonly { readonly entry: CronEntry; readonly nextMs: number }[] {
    return this.#lines;
  }

  /** When the next tick comes; infinite when none does. */
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

/** The index of the smallest, the first of equals: entries of one tick keep their order. */
function earliest(values: readonly number[]): number {
  let index = 0;
  for (let other = 1; other < values.length; other++) {
    if ((values[other] ?? 0) < (values[index] ?? 0)) index = other;
  }
  return index;
}
