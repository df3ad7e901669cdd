// The jobs that one transaction of a fast lane holds, and the slots in which they run.
import type { ClaimedJob } from "./claimed-job.ts";
import type { JobExecutor } from "./job-executor.ts";
import type { Slots } from "./slots.ts";

export class FastBatch<E> {
  readonly #jobs: readonly ClaimedJob[];
  readonly #executor: JobExecutor<E>;
  readonly #running = new Set<ClaimedJob>();
  #next = 0;
  #isClosed = false;

  constructor(jobs: readonly ClaimedJob[], executor: JobExecutor<E>) {
    this.#jobs = jobs;
    this.#executor = executor;
  }

  /** Jobs whose handlers have been called and have not ended. */
  get running(): readonly ClaimedJob[] {
    return [...this.#running];
  }

  get hasUnstarted(): boolean {
    return this.#next < this.#jobs.length;
  }

  /** Runs the jobs in slots that are free now; a promise for each of those. */
  start(slots: Slots<E>): Promise<void>[] {
    const ended: Promise<void>[] = [];
    while (this.hasUnstarted && slots.reserve()) ended.push(this.#runSlot());
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

  async #runSlot(): Promise<void> {
    while (!this.#isClosed) {
      const job = this.#jobs[this.#next];
      if (job === undefined) return;
      this.#next++;
      const pending = this.#executor.run(job);
      if (pending === undefined) continue;
      this.#running.add(job);
      await pending;
      this.#running.delete(job);
    }
  }
}
