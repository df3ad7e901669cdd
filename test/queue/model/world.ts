// The state of the model, with which tests compare the product. model.ts applies calls to this state.

/** A job. Times are microseconds of the model's clock. */
export interface Job {
  /** How many jobs were added before this job. The place identifies the job. */
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

/** The lock on a named queue. Both members are null if the queue is unlocked. */
export interface Lock {
  lockedBy: string | null;
  lockedAt: number | null;
}

/** A worker's lease. Resilient jobs have the flag `infrastructure_resilient`. */
export interface Lease {
  /** The time of the last heartbeat. */
  beatAt: number;
  /** After this time without a heartbeat, the worker's jobs are recovered, except resilient jobs. */
  readonly thresholdMs: number;
  /** The same time for the worker's resilient jobs. */
  readonly resilientThresholdMs: number;
  /** Whether the worker's jobs, except resilient ones, have been recovered. */
  isRecovered: boolean;
}

export interface World {
  now: number;
  /** How many jobs have ever been added. */
  added: number;
  readonly jobs: Map<number, Job>;
  /** The places of the jobs that had a key at their last fetch. */
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

/** Whether the job is not locked and has attempts left. */
export const isAvailable = (job: Job): boolean =>
  job.lockedBy === null && job.attempts < job.maxAttempts;

export function unlock(lock: Lock): void {
  lock.lockedBy = null;
  lock.lockedAt = null;
}

/** Returns the jobs whose `lockedBy` is `by`, in the order of their places. */
export const lockedJobsOf = (world: World, by: string | null): Job[] =>
  [...world.jobs.values()].filter(({ lockedBy }) => lockedBy === by);

/** Returns the part of the state that is compared with the product's rows, with times relative to `now`. */
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
