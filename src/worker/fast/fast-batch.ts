// The jobs that one transaction of the fast mode holds, as work for slots. What has not started when the
// time is up is let go.
import { type Clock, wait } from "../../base/clock.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import type { Slots, WorkSource } from "../execute/slots.ts";

export interface FastBatchParts<E> {
  /** In order. */
  readonly jobs: readonly FetchedJob[];
  readonly executor: JobExecutor<E>;
  readonly slots: Slots;
  readonly clock: Clock;
  /** How long the transaction may hold them. */
  readonly limitMs: number;
  /** One of the slots that start() took is free again. */
  slotEnded(): void;
}

export class FastBatch<E> implements WorkSource {
  readonly #parts: FastBatchParts<E>;
  /** A worker that was frozen has lost the rows, perhaps, before its timers say anything. */
  readonly #endsAtMs: number;
  #next = 0;
  #isClosed = false;
  #busySlots = 0;
  readonly #cut = new AbortController();
  /** None of them is busy any more, or nobody waits for them. */
  readonly #ended = Promise.withResolvers<void>();

  constructor(parts: FastBatchParts<E>) {
    this.#parts = parts;
    this.#endsAtMs = parts.clock.monotonic() + parts.limitMs;
  }

  /** Jobs whose handlers have been called and have not ended. */
  get running(): readonly FetchedJob[] {
    return this.#parts.slots.running(this);
  }

  /** Some slot that start() took has not ended. */
  get isBusy(): boolean {
    return this.#busySlots > 0;
  }

  get hasUnstarted(): boolean {
    return this.#next < this.#parts.jobs.length;
  }

  /** Runs the jobs in the slots that are free now. */
  start(): void {
    const hasMore = () => !this.#isClosed && this.hasUnstarted;
    const ended = this.#parts.slots.fill(this, hasMore);
    this.#busySlots = ended.length;
    for (const one of ended) void one.then(() => this.#slotEnded());
  }

  /** Resolves when its slots have ended, or its time is up: false then, and no more is started. */
  async ended(): Promise<boolean> {
    // A timer only where something has to be waited for: what was done at once has ended already.
    if (this.running.length === 0) {
      if (this.#busySlots > 0) await this.#ended.promise;
      return true;
    }
    const isOver = new AbortController();
    void this.#ended.promise.then(() => isOver.abort());
    const signal = AbortSignal.any([isOver.signal, this.#cut.signal]);
    if (!(await wait(this.#parts.limitMs, signal)) && isOver.signal.aborted) return true;
    this.stop();
    return false;
  }

  /** Its time is up now. */
  cut(): void {
    this.#cut.abort();
  }

  /** Starts no more of them. */
  stop(): void {
    this.#isClosed = true;
  }

  /** Somebody has given up on what runs. */
  abandon(): void {
    this.#isClosed = true;
    this.#parts.slots.abandon(this);
    this.#busySlots = 0;
    this.#ended.resolve();
  }

  mayStart(): boolean {
    if (!this.#isClosed && this.#parts.clock.monotonic() > this.#endsAtMs) this.#isClosed = true;
    return !this.#isClosed;
  }

  take(): FetchedJob | undefined {
    return this.#parts.jobs[this.#next++];
  }

  run(job: FetchedJob): Promise<void> | undefined {
    return this.#parts.executor.run(job);
  }

  finished(): void {}

  // Named queues are for the safe mode: there are no runs.
  mayFollow(): boolean {
    return true;
  }

  runEnded(): void {}

  #slotEnded(): void {
    // Given up: not counted any more.
    if (this.#busySlots === 0) return;
    this.#busySlots--;
    if (this.#busySlots === 0) this.#ended.resolve();
    this.#parts.slotEnded();
  }
}
