// The slots in which jobs run. An occupied slot takes work units from its source, one after another.
import type { FetchedJob } from "./fetched-job.ts";

/**
 * Jobs of one named queue, which run in order in one slot. `lock`: the number of the locked queue, or of the queue's
 * locked slot (queue/sql/slots.ts).
 */
export class QueueRun {
  readonly lock: number;
  readonly jobs: FetchedJob[] = [];
  /** Whether a later run with the same lock has begun. The end of this run must then keep the lock. */
  isOvertaken = false;

  constructor(lock: number) {
    this.lock = lock;
  }
}

/** What one slot runs without a break: a job or a run of a queue. */
export type WorkUnit = FetchedJob | QueueRun;

/** A source of work for slots. */
export interface WorkSource {
  /** Whether a job may start now. Called before each job. */
  mayStart(): boolean;
  /** Whether this job of a run may start after the job before it. */
  mayFollow(job: FetchedJob): boolean;
  /** Returns the next unit. */
  take(): WorkUnit | undefined;
  /** Runs a job. Returns undefined if the job is done at once; otherwise a promise, which never rejects. */
  run(job: FetchedJob): Promise<void> | undefined;
  jobEnded(job: FetchedJob): void;
  /** Called when a run has ended or was abandoned. */
  runEnded(run: QueueRun, unstarted: readonly FetchedJob[]): void;
}

/** The worker's concurrency: the number of slots in each of its sessions. May change at any time. */
export interface SlotCount {
  readonly value: number;
}

interface Slot {
  readonly source: WorkSource;
  unit: WorkUnit | undefined;
  /** The number of jobs of the run `unit` that have started. */
  started: number;
  isAbandoned: boolean;
}

export class Slots {
  readonly #concurrency: SlotCount;
  readonly #onChange: () => void;
  readonly #occupied: Slot[] = [];
  /** The latest run with each lock. */
  readonly #runs = new Map<number, QueueRun>();

  /** `onChange` is called when a unit has ended or a slot is free, except for abandoned slots. */
  constructor(concurrency: SlotCount, onChange: () => void) {
    this.#concurrency = concurrency;
    this.#onChange = onChange;
  }

  /** The number of free slots. */
  get free(): number {
    return Math.max(0, this.#concurrency.value - this.#occupied.length);
  }

  get all(): number {
    return this.#concurrency.value;
  }

  get isIdle(): boolean {
    return this.#occupied.length === 0;
  }

  /** Returns the source's jobs in slots: running jobs, and the unstarted jobs of runs. */
  jobs(source: WorkSource): readonly FetchedJob[] {
    return this.#slotsOf(source).flatMap(({ unit, started }) => {
      if (unit === undefined) return [];
      return unit instanceof QueueRun ? unit.jobs.slice(Math.max(0, started - 1)) : [unit];
    });
  }

  /** Returns the source's running jobs. A cancelled job is included until its code ends or its slot is abandoned. */
  runningJobs(source: WorkSource): readonly FetchedJob[] {
    return this.#slotsOf(source).flatMap(({ unit, started }) => {
      if (unit === undefined) return [];
      return unit instanceof QueueRun ? unit.jobs.slice(Math.max(0, started - 1), started) : [unit];
    });
  }

  /** The running jobs of all sources, except jobs of runs of queues. */
  get runningAlone(): readonly FetchedJob[] {
    return this.#occupied.flatMap(({ unit }) =>
      unit === undefined || unit instanceof QueueRun ? [] : [unit],
    );
  }

  /** Returns the locks of the runs in this source's slots. */
  queueIds(source: WorkSource): readonly number[] {
    return this.#slotsOf(source).flatMap(({ unit }) =>
      unit instanceof QueueRun ? [unit.lock] : [],
    );
  }

  /** Whether a run of this source has jobs that have not started. */
  hasFollowing(source: WorkSource): boolean {
    return this.#slotsOf(source).some(
      ({ unit, started }) => unit instanceof QueueRun && unit.jobs.length > started,
    );
  }

  /** Removes and returns the unstarted jobs of each run of this source whose next job is late. */
  cutRuns(source: WorkSource, isLate: (job: FetchedJob) => boolean): readonly FetchedJob[] {
    return this.#slotsOf(source).flatMap(({ unit, started }) => {
      const next = unit instanceof QueueRun ? unit.jobs[started] : undefined;
      return next !== undefined && isLate(next) ? (unit as QueueRun).jobs.splice(started) : [];
    });
  }

  /**
   * Occupies free slots while `hasMore()` returns true. Each returned promise resolves when its slot is free again; for
   * an abandoned slot, when the running job has ended.
   */
  fill(source: WorkSource, hasMore: () => boolean): readonly Promise<void>[] {
    const ended: Promise<void>[] = [];
    for (let free = this.free; free > 0 && hasMore(); free--) ended.push(this.#run(source));
    return ended;
  }

  /** Frees this source's slots without waiting for their jobs. */
  abandon(source: WorkSource): void {
    for (const slot of this.#slotsOf(source)) {
      slot.isAbandoned = true;
      this.#leave(slot);
      if (slot.unit instanceof QueueRun) this.#end(slot, slot.unit);
    }
  }

  #leave(slot: Slot): void {
    const at = this.#occupied.indexOf(slot);
    if (at >= 0) this.#occupied.splice(at, 1);
  }

  #slotsOf(source: WorkSource): Slot[] {
    return this.#occupied.filter((slot) => slot.source === source);
  }

  async #run(source: WorkSource): Promise<void> {
    const slot: Slot = { source, unit: undefined, started: 0, isAbandoned: false };
    this.#occupied.push(slot);
    while (this.#occupied.length <= this.#concurrency.value && source.mayStart()) {
      const unit = source.take();
      if (unit === undefined) break;
      slot.unit = unit;
      // A job that is done at once is not awaited, because an await would cost more than the job.
      const pending = unit instanceof QueueRun ? this.#runQueue(slot, unit) : source.run(unit);
      if (pending !== undefined) {
        await pending;
        if (slot.isAbandoned) return;
      }
      if (!(unit instanceof QueueRun)) source.jobEnded(unit);
      slot.unit = undefined;
      this.#onChange();
    }
    this.#leave(slot);
    this.#onChange();
  }

  async #runQueue(slot: Slot, run: QueueRun): Promise<void> {
    const { source } = slot;
    const earlier = this.#runs.get(run.lock);
    if (earlier !== undefined) earlier.isOvertaken = true;
    this.#runs.set(run.lock, run);
    slot.started = 0;
    for (const job of run.jobs) {
      if (slot.isAbandoned) return;
      if (slot.started > 0 && !(source.mayStart() && source.mayFollow(job))) break;
      slot.started++;
      const pending = source.run(job);
      if (pending !== undefined) await pending;
      source.jobEnded(job);
    }
    if (!slot.isAbandoned) this.#end(slot, run);
  }

  #end({ source, started }: Slot, run: QueueRun): void {
    if (!run.isOvertaken) this.#runs.delete(run.lock);
    source.runEnded(run, run.jobs.slice(started));
  }
}

export function jobsOf(unit: WorkUnit): readonly FetchedJob[] {
  return unit instanceof QueueRun ? unit.jobs : [unit];
}

/** Groups jobs into units, in order. Jobs with the same lock become one run. */
export function workUnits(jobs: readonly FetchedJob[]): readonly WorkUnit[] {
  if (jobs.every((job) => job.runLock === null)) return jobs;
  const runs = new Map<number, QueueRun>();
  const units: WorkUnit[] = [];
  for (const job of jobs) {
    const { runLock } = job;
    if (runLock === null) {
      units.push(job);
      continue;
    }
    let run = runs.get(runLock);
    if (run === undefined) {
      run = new QueueRun(runLock);
      runs.set(runLock, run);
      units.push(run);
    }
    run.jobs.push(job);
  }
  return units;
}
