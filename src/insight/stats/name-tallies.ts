// Adds up the results of statements that count the jobs of each task and of each named queue by condition, and the jobs
// that each worker (the *holder*) has locked.
import { inState, type TallyName, tallied } from "./tally.ts";

/**
 * The counts for one kind of name and one condition, as JSON lists with one element for each name. The counts of
 * holders include all locked jobs, and have the condition `running`.
 */
export interface TallyRow {
  readonly kind: "task" | "queue" | "holder";
  readonly tallied: TallyName;
  /** The ids of tasks, queues or workers. null: the jobs without a named queue. */
  readonly keys: string;
  readonly counts: string;
  /**
   * Times in milliseconds since 1970: the earliest lock of locked jobs, the last failure of failed jobs, or the
   * earliest run_at of other jobs. null: unknown, or a holder.
   */
  readonly times: string;
}

/** The jobs of a sample: lists with an element for each job. `holders` has elements for locked jobs only. */
export interface SampledJobs {
  /** The number of each job's page in the table. Jobs of one page follow each other. */
  readonly pages: readonly number[];
  readonly tasks: readonly number[];
  readonly queues: readonly (number | null)[];
  readonly tallied: readonly TallyName[];
  readonly holders: readonly string[];
}

export interface NameTally {
  readonly counts: Record<TallyName, number>;
  /** For a sample, the sum of the squares of each page's counts, for the variance of an estimate; otherwise 0. */
  readonly squares: Record<TallyName, number>;
  /** Times as in TallyRow. */
  readonly times: Partial<Record<TallyName, number>>;
}

export class NameTallies {
  readonly all: NameTally = emptyTally();
  readonly tasks = new Map<number, NameTally>();
  /** The named queues by id. */
  readonly queues = new Map<number, NameTally>();
  /** The number of jobs that each worker has locked, by the worker's id. */
  readonly holders = new Map<string, number>();

  add(rows: readonly TallyRow[]): void {
    for (const row of rows) {
      const keys = JSON.parse(row.keys) as (string | null)[];
      const counts = JSON.parse(row.counts) as number[];
      const times = JSON.parse(row.times) as (number | string | null)[];
      for (const [place, key] of keys.entries()) {
        const time = times[place];
        this.#addOne(row, key, {
          count: counts[place] ?? 0,
          squares: 0,
          time: time == null ? null : Math.floor(Number(time)),
        });
      }
    }
  }

  addSample({ pages, tasks, queues, tallied, holders }: SampledJobs): void {
    for (const [key, counter] of countByPage(pages, tasks, tallied)) {
      this.#addCounter("task", key, counter);
    }
    for (const [key, counter] of countByPage(pages, queues, tallied)) {
      this.#addCounter("queue", key, counter);
    }
    for (const holder of holders) this.holders.set(holder, (this.holders.get(holder) ?? 0) + 1);
  }

  #addCounter(kind: "task" | "queue", key: number, { count, squares, onPage }: PageCounter) {
    const condition = tallied[key % tallied.length] ?? "ready";
    const id = Math.floor(key / tallied.length);
    const more = { count, squares: squares + onPage ** 2, time: null };
    this.#addOne({ kind, tallied: condition }, id === NO_QUEUE ? null : String(id), more);
  }

  #addOne(
    { kind, tallied }: Pick<TallyRow, "kind" | "tallied">,
    key: string | null,
    more: CountWithError,
  ) {
    if (kind === "holder") {
      if (key !== null) this.holders.set(key, (this.holders.get(key) ?? 0) + more.count);
      return;
    }
    // Every job has a task, so the sum over all tasks is the number of all jobs.
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

/** Jobs without a named queue are counted under this id, which no queue has. */
const NO_QUEUE = 0;

interface PageCounter {
  count: number;
  squares: number;
  page: number;
  onPage: number;
}

const codes = new Map(tallied.map((one, code) => [one, code]));

/**
 * Counts the jobs of each pair of an id (of a task or queue) and a condition. A key of the map combines both in one
 * number, for speed: counting tens of thousands of jobs blocks the process. `squares` does not include the last page,
 * whose count is `onPage`.
 */
function countByPage(
  pages: readonly number[],
  ids: readonly (number | null)[],
  conditions: readonly TallyName[],
): ReadonlyMap<number, PageCounter> {
  const counters = new Map<number, PageCounter>();
  for (let n = 0; n < pages.length; n++) {
    const page = pages[n] ?? 0;
    const code = codes.get(conditions[n] ?? "ready") ?? 0;
    const key = (ids[n] ?? NO_QUEUE) * tallied.length + code;
    const counter = counters.get(key);
    if (counter === undefined) counters.set(key, { count: 1, squares: 0, page, onPage: 1 });
    else {
      counter.count += 1;
      if (counter.page === page) counter.onPage += 1;
      else {
        counter.squares += counter.onPage ** 2;
        counter.page = page;
        counter.onPage = 1;
      }
    }
  }
  return counters;
}

interface CountWithError {
  readonly count: number;
  readonly squares: number;
  readonly time: number | null;
}

/** Returns the counts of several tasks, or of several queues, together. */
export function sumOfTallies(tallies: readonly NameTally[]): NameTally {
  const sum = emptyTally();
  for (const { counts, squares, times } of tallies) {
    for (const condition of tallied) {
      const more = {
        count: counts[condition],
        squares: squares[condition],
        time: times[condition] ?? null,
      };
      addTo(sum, condition, more);
    }
  }
  return sum;
}

function emptyTally(): NameTally {
  const zeros = () =>
    Object.fromEntries(tallied.map((one) => [one, 0])) as Record<TallyName, number>;
  return { counts: zeros(), squares: zeros(), times: {} };
}

function addTo(tally: NameTally, one: TallyName, { count, squares, time }: CountWithError) {
  const { times } = tally;
  tally.counts[one] += count;
  tally.squares[one] += squares;
  if (time === null) return;
  const before = times[one] ?? time;
  times[one] = one === "failed" ? Math.max(before, time) : Math.min(before, time);
}

const ahead = inState.scheduled.filter((one) => one !== "retrying_ahead");

/**
 * Returns times in milliseconds since 1970; null: unknown, or no such job. `oldestReady` includes blocked jobs and due
 * retries, and `oldestFree` does not. `longestRunning` is the earliest lock of a running job.
 */
export function agesOf({ times }: NameTally) {
  const earliest = (...of: TallyName[]) => {
    const known = of.flatMap((one) => times[one] ?? []);
    return known.length === 0 ? null : Math.min(...known);
  };
  return {
    oldestReady: earliest(...inState.ready),
    oldestFree: earliest("ready"),
    nextDue: earliest(...ahead),
    longestRunning: earliest("running"),
    lastFailure: times.failed ?? null,
  };
}
