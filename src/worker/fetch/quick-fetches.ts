// Quick fetches: what they send, and when they are worth it. The first fetch after a while without jobs
// is mostly for a single job, which waits for it: a third of that time is the large statement's.
import { type Database, query, type Statement } from "../../database/database.ts";
import { ClaimedRows } from "../../queue/fetch/claimed-rows.ts";
import type { ClaimedColumns } from "../../queue/fetch/job-columns.ts";
import { quickStatement } from "../../queue/fetch/quick-fetch.ts";
import type { KnownTasks } from "./known-tasks.ts";

/** Most jobs of a quick fetch. */
const MOST_JOBS = 32;

/** Quick fetches that are left out after several in vain. */
const LEFT_OUT_AT_MOST = 64;

export interface QuickAnswer {
  readonly rows: readonly ClaimedRows[];
  /** As many as it asked for. */
  readonly isFull: boolean;
}

export class QuickFetches {
  readonly #statement: Statement;
  readonly #tasks: KnownTasks;
  readonly #workerId: string | null;
  #leftOut = 0;
  #toLeaveOut = 0;

  /** `workerId`: takes the jobs for it; null = locks their rows, in a transaction that is open. */
  constructor(tasks: KnownTasks, workerId: string | null) {
    this.#tasks = tasks;
    this.#workerId = workerId;
    const mode = workerId === null ? "row" : "locked_by";
    this.#statement = quickStatement({ flags: tasks.forbiddenFlags !== null, mode });
  }

  /** Whether the next fetch should be quick: not where quick ones have been in vain lately. */
  mayBeNext(): boolean {
    if (this.#toLeaveOut === 0) return true;
    this.#toLeaveOut--;
    return false;
  }

  /** Takes up to `want` jobs, and few. `isFull`: as many as it asked for. Throws WorkerError. */
  async fetch(db: Database, want: number): Promise<QuickAnswer> {
    const most = Math.min(want, MOST_JOBS);
    const { identifiers, forbiddenFlags } = this.#tasks;
    const values = [identifiers, most, this.#workerId, forbiddenFlags].filter(
      (one) => one !== null,
    );
    const rows = await query<ClaimedColumns>(db, this.#statement, values);
    const inVain = rows.length === 0;
    this.#leftOut = inVain ? Math.min(LEFT_OUT_AT_MOST, this.#leftOut * 2 || 1) : 0;
    this.#toLeaveOut = this.#leftOut;
    return { rows: rows.map((one) => new ClaimedRows(one)), isFull: rows.length === most };
  }
}
