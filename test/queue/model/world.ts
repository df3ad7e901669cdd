// What a queue holds, in memory: the state of the model. The files beside this one say what each call does
// to it; together they are the queue's semantics in a few hundred lines, and model.test.ts holds the product
// to them.

/** Times are microseconds of the model's own clock, which only `time passes` moves. */
export interface Job {
  /** In the order in which jobs came into being: what the product gives an id. */
  readonly place: number;
  task: string;
  queue: string | null;
  key: string | null;
  payload: unknown;
  priority: number;
  runAt: number;
  attempts: number;
  maxAttempts: number;
  lastError: string | null;
  lockedBy: string | null;
  lockedAt: number | null;
  revision: number;
  flags: readonly string[];
}

/** Who holds a named queue; a queue that nobody holds is free. */
export interface Lock {
  lockedBy: string | null;
  lockedAt: number | null;
}

/** A worker's sign of life. */
export interface Lease {
  beatAt: number;
  /** Of its own choice: after so long without a beat its jobs are taken away, resilient ones later. */
  readonly thresholdMs: number;
  readonly resilientThresholdMs: number;
  isRecovered: boolean;
}

export interface World {
  now: number;
  /** How many jobs there have ever been. */
  added: number;
  readonly jobs: Map<number, Job>;
  /** Places of jobs that had a key when they were last taken. */
  readonly keyed: Set<number>;
  readonly queues: Map<string, Lock>;
  readonly leases: Map<string, Lease>;
}

export const newWorld = (): World => ({
  now: 0,
  added: 0,
  jobs: new Map(),
  keyed: new Set(),
  queues: new Map(),
  leases: new Map(),
});

export const MS = 1_000;
export const SECOND = 1_000 * MS;
export const HOUR = 3_600 * SECOND;

/** Not locked, and attempts are left. */
export const isAvailable = (job: Job): boolean =>
  job.lockedBy === null && job.attempts < job.maxAttempts;

export function unlock(lock: Lock): void {
  lock.lockedBy = null;
  lock.lockedAt = null;
}

/** Jobs with this name in `locked_by`, the oldest first. */
export const heldBy = (world: World, by: string | null): Job[] =>
  [...world.jobs.values()].filter(({ lockedBy }) => lockedBy === by);

/** All that can be seen of it, with times as distances from now: as the product's rows are read, too. */
export function visible({ now, jobs, queues, leases }: World) {
  const from = (at: number | null) => (at === null ? null : at - now);
  return {
    jobs: [...jobs.values()]
      .sort((a, b) => a.place - b.place)
      .map((job) => ({ ...job, runAt: job.runAt - now, lockedAt: from(job.lockedAt) })),
    queues: [...queues]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { lockedBy, lockedAt }]) => ({ name, lockedBy, lockedAt: from(lockedAt) })),
    leases: [...leases]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { beatAt, isRecovered }]) => ({ id, beatAt: beatAt - now, isRecovered })),
  };
}

export type Visible = ReturnType<typeof visible>;
