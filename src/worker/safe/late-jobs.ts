// Watches the runs of named queues in slots. A run is planned for about 25 ms, but its jobs may take longer. Jobs of a
// run that have not started 100 ms after their fetch are returned to the database, so that more urgent jobs can run
// first, and changes that users make to the jobs take effect. returnUnstarted() returns all unstarted jobs at once, for
// example when a pause begins.
import type { Clock } from "../../base/clock.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import type { Slots, WorkSource } from "../execute/slots.ts";
import { UNSTARTED_MS } from "../options/local-queue-options.ts";

const CHECK_MS = 50;

export interface LateJobsParts {
  readonly clock: Clock;
  readonly slots: Slots;
  readonly source: WorkSource;
  /** Whether runs wait in the local queue. */
  hasWaitingRuns(): boolean;
  /** Returns jobs of runs to the database. If a job of such a run still runs, the named queue stays locked for it. */
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

  /** Checks the runs every CHECK_MS, until no run has unstarted jobs. */
  watch(): void {
    this.#cancelTimer ??= this.#parts.clock.after(CHECK_MS, () => this.#check());
  }

  /** Returns the jobs of the local queue, and the unstarted jobs of runs in slots, to the database. */
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
