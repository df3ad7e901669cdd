// The jobs that one transaction of a fast lane holds, and the slots in which they run: one after
// another where they are of one named queue.
import { type ClaimedJob, QueueRun, type WorkUnit, workUnits } from "./claimed-job.ts";
import type { JobExecutor } from "./job-executor.ts";
import type { Slots } from "./slots.ts";

export class FastBatch<E> {
  readonly #units: readonly WorkUnit[];
  readonly #executor: JobExecutor<E>;
  readonly #running = new Set<ClaimedJob>();
  #next = 0;
  #isClosed = false;
  #hasLeftRuns = false;

  /** `jobs` are in order. */
  constructor(jobs: readonly ClaimedJob[], executor: JobExecutor<E>) {
    this.#units = workUnits(jobs);
    this.#executor = executor;
  }

  /** Jobs whose handlers have been called and have not ended. */
  get running(): readonly ClaimedJob[] {
    return [...this.#running];
  }

  get hasUnstarted(): boolean {
    return this.#hasWaiting || this.#hasLeftRuns;
  }

  /** Runs the jobs in slots that are free now; a promise for each of those. */
  start(slots: Slots<E>): Promise<void>[] {
    const ended: Promise<void>[] = [];
    while (!this.#isClosed && this.#hasWaiting && slots.reserve()) ended.push(this.#runSlot());
    return ended;
  }

  /** Starts no more of them. */
  close(): void {
    this.#isClosed = true;
  }

  /** Somebody has given up on what runs. */
  abandon(): void {
    this.#isClosed = true;
    this.#running.clear();
  }

  get #hasWaiting(): boolean {
    return this.#next < this.#units.length;
  }

  async #runSlot(): Promise<void> {
    while (!this.#isClosed) {
      const unit = this.#units[this.#next];
      if (unit === undefined) return;
      this.#next++;
      // A job that is done at once is not waited for: that would cost more than the job.
      const pending = unit instanceof QueueRun ? this.#runQueue(unit) : this.#runJob(unit);
      if (pending !== undefined) await pending;
    }
  }

  async #runQueue({ jobs }: QueueRun): Promise<void> {
    for (const job of jobs) {
      if (this.#isClosed) {
        this.#hasLeftRuns = true;
        return;
      }
      const pending = this.#runJob(job);
      if (pending !== undefined) await pending;
    }
  }

  #runJob(job: ClaimedJob): Promise<void> | undefined {
    const pending = this.#executor.run(job);
    if (pending === undefined) return undefined;
    this.#running.add(job);
    return pending.then(() => void this.#running.delete(job));
  }
}
