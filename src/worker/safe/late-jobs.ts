// Looks after runs of named queues in slots: a run is short by its tasks' speed, but a job may take longer
// than the ones before it. What has not started in time goes back, so that more urgent jobs, and people who
// remove or move a job, come first.
import type { Clock } from "../../base/clock.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import type { Slots, WorkSource } from "../execute/slots.ts";
import { UNSTARTED_MS } from "../options/local-queue-options.ts";

/** What is late is found so much later at most. */
const CHECK_MS = 50;

export interface LateJobsParts {
  readonly clock: Clock;
  readonly slots: Slots;
  readonly source: WorkSource;
  /** The local queue has runs, too. */
  hasWaitingRuns(): boolean;
  /** These go back; their queues stay locked for the jobs that run. */
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

  /** Runs were fetched: looks after them until none has jobs that wait. */
  watch(): void {
    this.#cancelTimer ??= this.#parts.clock.after(CHECK_MS, () => this.#check());
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
