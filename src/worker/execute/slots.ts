// The slots in which jobs run, as many as the worker's concurrency. A slot takes unit after unit from
// its source until that has no more; a run of one named queue stays in its slot, in order.
import type { FetchedJob } from "./fetched-job.ts";
import { QueueRun, type WorkUnit } from "./work-unit.ts";

/** Where slots get their work. */
export interface WorkSource {
  /** Whether a job may start now: asked before each. */
  mayStart(): boolean;
  /** Whether this job of a run may still follow the one before it. */
  mayFollow(job: FetchedJob): boolean;
  /** The next unit; undefined when none is left. */
  take(): WorkUnit | undefined;
  /** Runs a job; a promise only where something has to be waited for. Never rejects. */
  run(job: FetchedJob): Promise<void> | undefined;
  /** A job has ended. */
  finished(): void;
  /** A run of a queue is over, or given up; these of its jobs have not started. */
  runEnded(run: QueueRun, unstarted: readonly FetchedJob[]): void;
}

/** What a slot is about. */
interface Slot {
  readonly source: WorkSource;
  unit: WorkUnit | undefined;
  /** How many jobs of a queue's run have been started. */
  started: number;
  isAbandoned: boolean;
}

export class Slots {
  readonly #count: number;
  readonly #onChange: () => void;
  readonly #occupied: Slot[] = [];

  /** `onChange`: a unit has ended, or a slot is free. */
  constructor(count: number, onChange: () => void) {
    this.#count = count;
    this.#onChange = onChange;
  }

  get free(): number {
    return this.#count - this.#occupied.length;
  }

  get isIdle(): boolean {
    return this.#occupied.length === 0;
  }

  /** What of this source runs in slots, and what has not started of queues' runs there. */
  jobs(source: WorkSource): readonly FetchedJob[] {
    return this.#of(source).flatMap(({ unit, started }) => {
      if (unit === undefined) return [];
      return unit instanceof QueueRun ? unit.jobs.slice(Math.max(0, started - 1)) : [unit];
    });
  }

  /** What of this source runs: one job a slot. */
  running(source: WorkSource): readonly FetchedJob[] {
    return this.#of(source).flatMap(({ unit, started }) => {
      if (unit === undefined) return [];
      return unit instanceof QueueRun ? unit.jobs.slice(Math.max(0, started - 1), started) : [unit];
    });
  }

  /** The named queues whose runs are in this source's slots. */
  queueIds(source: WorkSource): readonly number[] {
    return this.#of(source).flatMap(({ unit }) => (unit instanceof QueueRun ? [unit.queueId] : []));
  }

  /** Whether jobs of this source's runs wait for the one before them. */
  hasFollowing(source: WorkSource): boolean {
    return this.#of(source).some(
      ({ unit, started }) => unit instanceof QueueRun && unit.jobs.length > started,
    );
  }

  /** Ends this source's runs after the job that runs; gives the jobs for which `isLate` holds. */
  cutRuns(source: WorkSource, isLate: (job: FetchedJob) => boolean): readonly FetchedJob[] {
    return this.#of(source).flatMap(({ unit, started }) => {
      const next = unit instanceof QueueRun ? unit.jobs[started] : undefined;
      return next !== undefined && isLate(next) ? (unit as QueueRun).jobs.splice(started) : [];
    });
  }

  /** Gives work to free slots while there is some. A promise for each slot that it occupied. */
  fill(source: WorkSource, hasMore: () => boolean): readonly Promise<void>[] {
    const ended: Promise<void>[] = [];
    for (let free = this.free; free > 0 && hasMore(); free--) ended.push(this.#run(source));
    return ended;
  }

  /** Waits no longer for what this source's slots run: somebody has given up on it. */
  abandon(source: WorkSource): void {
    for (const slot of this.#of(source)) {
      slot.isAbandoned = true;
      this.#leave(slot);
      if (slot.unit instanceof QueueRun) {
        source.runEnded(slot.unit, slot.unit.jobs.slice(slot.started));
      }
    }
  }

  #leave(slot: Slot): void {
    const at = this.#occupied.indexOf(slot);
    if (at >= 0) this.#occupied.splice(at, 1);
  }

  #of(source: WorkSource): Slot[] {
    return this.#occupied.filter((slot) => slot.source === source);
  }

  async #run(source: WorkSource): Promise<void> {
    const slot: Slot = { source, unit: undefined, started: 0, isAbandoned: false };
    this.#occupied.push(slot);
    while (source.mayStart()) {
      const unit = source.take();
      if (unit === undefined) break;
      slot.unit = unit;
      // A job that is done at once is not waited for: that would cost more than the job.
      const pending = unit instanceof QueueRun ? this.#runQueue(slot, unit) : source.run(unit);
      if (pending !== undefined) {
        await pending;
        if (slot.isAbandoned) return;
      }
      if (!(unit instanceof QueueRun)) source.finished();
      slot.unit = undefined;
      this.#onChange();
    }
    this.#leave(slot);
    this.#onChange();
  }

  async #runQueue(slot: Slot, run: QueueRun): Promise<void> {
    const { source } = slot;
    slot.started = 0;
    for (const job of run.jobs) {
      if (slot.isAbandoned) return;
      if (slot.started > 0 && !(source.mayStart() && source.mayFollow(job))) break;
      slot.started++;
      const pending = source.run(job);
      if (pending !== undefined) await pending;
      source.finished();
    }
    if (!slot.isAbandoned) source.runEnded(run, run.jobs.slice(slot.started));
  }
}
