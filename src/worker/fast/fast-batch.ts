// The jobs that one transaction of the fast mode has locked by row locks, as work for slots.
import { Stopwatch, wait } from "../../base/clock.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import type { Slots, WorkSource } from "../execute/slots.ts";

/**
 * If some jobs of a batch have not started after this time, the transaction ends, even if its time limit is longer. The
 * end unlocks these jobs, so that the safe mode of any worker can run them.
 */
const MAX_UNSTARTED_MS = 200;

export interface FastBatchParts<E> {
  /** In the order in which they start. */
  readonly jobs: readonly FetchedJob[];
  readonly executor: JobExecutor<E>;
  readonly slots: Slots;
  /** The time limit of the transaction. */
  readonly limitMs: number;
  /** Called when one of the slots that start() occupied is free again; not after abandon(). */
  slotEnded(): void;
}

export class FastBatch<E> implements WorkSource {
  readonly #parts: FastBatchParts<E>;
  readonly #unstartedMs: number;
  /**
   * Checked before each job starts, because after a freeze of the process, timers are late, and the row locks may be
   * lost.
   */
  readonly #age = new Stopwatch();
  #next = 0;
  #isClosed = false;
  #busySlots = 0;
  readonly #cut = new AbortController();
  readonly #ended = Promise.withResolvers<void>();

  constructor(parts: FastBatchParts<E>) {
    this.#parts = parts;
    this.#unstartedMs = Math.min(parts.limitMs, MAX_UNSTARTED_MS);
  }

  /** Started jobs whose attempts have not ended. */
  get running(): readonly FetchedJob[] {
    const { slots, executor } = this.#parts;
    // A cancelled job that ignores its signal still occupies its slot, but already has a result.
    return slots.runningJobs(this).filter((job) => executor.isRunning(job));
  }

  /** Whether a slot of the batch is not free yet. */
  get isBusy(): boolean {
    return this.#busySlots > 0;
  }

  get hasUnstarted(): boolean {
    return this.#next < this.#parts.jobs.length;
  }

  has(id: string): boolean {
    return this.#parts.jobs.some((job) => job.id === id);
  }

  /** Runs the jobs in the free slots. */
  start(): void {
    const hasMore = () => !this.#isClosed && this.hasUnstarted;
    const ended = this.#parts.slots.fill(this, hasMore);
    this.#busySlots = ended.length;
    for (const end of ended) void end.then(() => this.#slotEnded());
  }

  /**
   * Resolves to true when all slots of the batch are free or abandoned. Resolves to false, and starts no more jobs, at
   * cut(), at the time limit, or after MAX_UNSTARTED_MS if some jobs have not started.
   */
  async waitForSlots(): Promise<boolean> {
    // If no job runs any more, the slots are free soon, so no timer is needed.
    if (this.#parts.slots.runningJobs(this).length === 0) {
      if (this.#busySlots > 0) await this.#ended.promise;
      return true;
    }
    const isOver = new AbortController();
    void this.#ended.promise.then(() => isOver.abort());
    const signal = AbortSignal.any([isOver.signal, this.#cut.signal]);
    const { limitMs } = this.#parts;
    await wait(this.#unstartedMs, signal);
    if (!this.hasUnstarted) await wait(limitMs - this.#unstartedMs, signal);
    if (isOver.signal.aborted) return true;
    this.stop();
    return false;
  }

  /** Starts no more jobs, and ends the wait of waitForSlots(). */
  cut(): void {
    this.stop();
    this.#cut.abort();
  }

  /** Starts no more jobs. */
  stop(): void {
    this.#isClosed = true;
  }

  /** Stops waiting for running jobs. */
  abandon(): void {
    this.#isClosed = true;
    this.#parts.slots.abandon(this);
    this.#busySlots = 0;
    this.#ended.resolve();
  }

  mayStart(): boolean {
    this.#isClosed ||= this.#age.ms > this.#unstartedMs;
    return !this.#isClosed;
  }

  take(): FetchedJob | undefined {
    return this.#parts.jobs[this.#next++];
  }

  run(job: FetchedJob): Promise<void> | undefined {
    return this.#parts.executor.run(job);
  }

  jobEnded(): void {}

  // A batch has no jobs of named queues.
  mayFollow(): boolean {
    return true;
  }

  runEnded(): void {}

  #slotEnded(): void {
    // After abandon(), slots that become free are not counted.
    if (this.#busySlots === 0) return;
    this.#busySlots--;
    if (this.#busySlots === 0) this.#ended.resolve();
    this.#parts.slotEnded();
  }
}
