// The places in which jobs run, as many as the worker's concurrency. A slot takes unit after unit
// from the local queue until nothing waits; a run of one named queue stays in its slot, in order.
import { type ClaimedJob, QueueRun, type WorkUnit } from "./claimed-job.ts";
import type { JobExecutor } from "./job-executor.ts";
import type { LocalQueue } from "./local-queue.ts";
import type { Outcomes } from "./outcomes.ts";

export interface SlotParts<E> {
  readonly executor: JobExecutor<E>;
  readonly outcomes: Outcomes;
  /** A unit has ended, or a slot is free. */
  ended(): void;
}

export class Slots<E> {
  readonly #count: number;
  readonly #localQueue: LocalQueue;
  readonly #parts: SlotParts<E>;
  readonly #occupied = new Set<Slot>();
  /** Those and the reserved ones. */
  #active = 0;
  #isEnding = false;

  constructor(count: number, localQueue: LocalQueue, parts: SlotParts<E>) {
    this.#count = count;
    this.#localQueue = localQueue;
    this.#parts = parts;
  }

  get free(): number {
    return this.#count - this.#active;
  }

  get isIdle(): boolean {
    return this.#active === 0;
  }

  /** What runs, and what has not started of queues' runs. */
  get jobs(): readonly ClaimedJob[] {
    return [...this.#occupied].flatMap(({ unit, started }) => {
      if (unit === undefined) return [];
      return unit instanceof QueueRun ? unit.jobs.slice(Math.max(0, started - 1)) : [unit];
    });
  }

  /** The named queues whose jobs run. */
  get queueIds(): readonly number[] {
    return [...this.#occupied].flatMap(({ unit }) =>
      unit instanceof QueueRun ? [unit.queueId] : [],
    );
  }

  /** Gives waiting units to free slots. */
  fill(): void {
    for (let free = this.free; free > 0 && this.#localQueue.size > 0; free--) void this.#run();
  }

  /** Takes a slot for somebody who runs jobs by himself; false when none is free. */
  reserve(): boolean {
    if (this.free === 0) return false;
    this.#active++;
    return true;
  }

  release(): void {
    this.#active--;
    this.#parts.ended();
  }

  /** What has not started in a queue's run goes back instead. */
  endRuns(): void {
    this.#isEnding = true;
  }

  /**
   * Waits no longer for what runs: somebody has given up on it. What has not started of a queue's run
   * goes back.
   */
  abandon(): void {
    this.#isEnding = true;
    const { outcomes } = this.#parts;
    for (const slot of this.#occupied) {
      slot.isAbandoned = true;
      if (!(slot.unit instanceof QueueRun)) continue;
      const { jobs, queueId } = slot.unit;
      outcomes.giveBack(jobs.slice(slot.started), [queueId]);
    }
    this.#occupied.clear();
    this.#active = 0;
  }

  async #run(): Promise<void> {
    const { executor, outcomes, ended } = this.#parts;
    const slot: Slot = { unit: undefined, started: 0, isAbandoned: false };
    this.#active++;
    this.#occupied.add(slot);
    for (let unit = this.#localQueue.take(); unit !== undefined; unit = this.#localQueue.take()) {
      slot.unit = unit;
      // A job that is done at once is not waited for: that would cost more than the job.
      const pending = unit instanceof QueueRun ? this.#runQueue(slot, unit) : executor.run(unit);
      if (pending !== undefined) {
        await pending;
        if (slot.isAbandoned) return;
      }
      if (unit instanceof QueueRun) outcomes.freeQueue(unit.queueId);
      else this.#localQueue.finished();
      slot.unit = undefined;
      ended();
    }
    this.#occupied.delete(slot);
    this.#active--;
    ended();
  }

  async #runQueue(slot: Slot, { jobs }: QueueRun): Promise<void> {
    const { executor, outcomes } = this.#parts;
    slot.started = 0;
    for (const [place, job] of jobs.entries()) {
      if (slot.isAbandoned) return;
      slot.started++;
      if (this.#isEnding && place > 0) {
        outcomes.return(job);
        continue;
      }
      const pending = executor.run(job);
      if (pending !== undefined) await pending;
      this.#localQueue.finished();
    }
  }
}

/** What a slot is about. */
interface Slot {
  unit: WorkUnit | undefined;
  /** How many jobs of a queue's run have been started. */
  started: number;
  isAbandoned: boolean;
}
