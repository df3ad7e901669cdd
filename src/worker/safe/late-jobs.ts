// Watches runs of named queues in slots. A run has about as many jobs as take 25 ms on average, but some take longer.
// Jobs of a run that have not started within 100 ms are returned to the database, so that more urgent jobs run first
// and changes of a job take effect. After a pause, for example, all unstarted jobs are returned at once.
import type { Clock } from "../../base/clock.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import type { Slots, WorkSource } from "../execute/slots.ts";
import { UNSTARTED_MS } from "../options/local-queue-options.ts";

/** The interval of checks. */
const CHECK_MS = 50;

export interface LateJobsParts {
  readonly clock: Clock;
  readonly slots: Slots;
  readonly source: WorkSource;
  /** Whether the local queue has runs, too. */
  hasWaitingRuns(): boolean;
  /** Returns jobs to the database. Their queues stay locked for the running jobs. */
  giveBack(jobs: readonly FetchedJob[]): void;
}

export class LateJobs {
  readonly #parts: LateJobsParts;
  #cancelTimer: (() => void) | null = null;

  constructor(parts: LateJobsParts) {
    this.#parts = parts;
  }

  isLate(job: FetchedJob): boolean {
    return this.#parts.clock.monotonic() - job.fetchedAtMs >= UNSTARTED_MS;
  }

  /** Starts checking the runs, until none has unstarted jobs. */
  watch(): void {
    this.#cancelTimer ??= this.#parts.clock.after(CHECK_MS, () => this.#check());
  }

  /** Returns the jobs of the local queue, and the unstarted jobs of runs, to the database. */
  returnUnstarted(localQueue: { giveBackAll(): void }): void {
    const { slots, source, giveBack } = this.#parts;
    localQueue.giveBackAll();
    const cut = slots.cutRuns(source, () => true);
    if (cut.length > 0) giveBack(cut);
  }

  close(): void {
    this.#cancelTimer?.();
  }

  #check(): void {
    const { slots, source, hasWaitingRuns, giveBack } = this.#parts;
    this.#cancelTimer = null;
    const late = slots.cutRuns(source, (job) => this.isLate(job));
    if (late.length > 0) giveBack(late);
    if (hasWaitingRuns() || slots.hasFollowing(source)) this.watch();
  }
}
