// Jobs counted by condition for each task, each named queue and each holder of locks, put together from
// the rows of one or many statements.
import { type Tallied, tallied } from "./tally.ts";

/** One kind of name and one condition; the lists are JSON texts, and their places belong together. */
export interface TallyRow {
  readonly kind: "task" | "queue" | "holder";
  readonly tallied: Tallied;
  /** Ids, or the holder's name; null: the jobs without a named queue. */
  readonly keys: string;
  readonly counts: string;
  /** Of the count on each page, added up: how unevenly they lie. */
  readonly squares: string;
  /**
   * The moment that matters, milliseconds since 1970: of running jobs the earliest lock, of failed ones
   * the last failure, of all others the earliest run_at.
   */
  readonly times: string;
}

export interface NameTally {
  readonly counts: Record<Tallied, number>;
  readonly squares: Record<Tallied, number>;
  readonly times: Partial<Record<Tallied, number>>;
}

export class NameTallies {
  readonly all: NameTally = emptyTally();
  readonly tasks = new Map<number, NameTally>();
  /** Without the jobs that have no queue. */
  readonly queues = new Map<number, NameTally>();
  /** How many jobs each has locked. */
  readonly holders = new Map<string, number>();

  add(rows: readonly TallyRow[]): void {
    for (const row of rows) {
      const keys = JSON.parse(row.keys) as (string | null)[];
      const counts = JSON.parse(row.counts) as number[];
      const squares = JSON.parse(row.squares) as number[];
      const times = JSON.parse(row.times) as (number | string | null)[];
      for (const [place, key] of keys.entries()) {
        const time = times[place];
        this.#addOne(row, key, {
          count: counts[place] ?? 0,
          squares: squares[place] ?? 0,
          time: time == null ? null : Number(time),
        });
      }
    }
  }

  #addOne({ kind, tallied }: TallyRow, key: string | null, more: Counted) {
    if (kind === "holder") {
      if (key !== null) this.holders.set(key, (this.holders.get(key) ?? 0) + more.count);
      return;
    }
    // Every job has a task, so all tasks together are all jobs.
    if (kind === "task") addTo(this.all, tallied, more);
    if (key === null) return;
    const names = kind === "task" ? this.tasks : this.queues;
    const id = Number(key);
    let tally = names.get(id);
    if (tally === undefined) {
      tally = emptyTally();
      names.set(id, tally);
    }
    addTo(tally, tallied, more);
  }
}

interface Counted {
  readonly count: number;
  readonly squares: number;
  readonly time: number | null;
}

function emptyTally(): NameTally {
  const zeros = () => Object.fromEntries(tallied.map((one) => [one, 0])) as Record<Tallied, number>;
  return { counts: zeros(), squares: zeros(), times: {} };
}

function addTo(tally: NameTally, one: Tallied, { count, squares, time }: Counted) {
  const { times } = tally;
  tally.counts[one] += count;
  tally.squares[one] += squares;
  if (time === null) return;
  const before = times[one] ?? time;
  times[one] = one === "failed" ? Math.max(before, time) : Math.min(before, time);
}

/** The earliest run_at of what is due, the earliest ahead, the earliest lock, the last failure. */
export function agesOf({ times }: NameTally) {
  const earliest = (...of: Tallied[]) => {
    const known = of.flatMap((one) => times[one] ?? []);
    return known.length === 0 ? null : Math.min(...known);
  };
  return {
    oldestReady: earliest("ready", "blocked", "retrying_due"),
    nextDue: earliest("scheduled", "retrying_ahead"),
    longestRunning: earliest("running"),
    lastFailure: times.failed ?? null,
  };
}

export type Ages = ReturnType<typeof agesOf>;
