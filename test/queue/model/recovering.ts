// The model of the recovery of jobs from stale workers. When a worker's lease has expired, a sweep removes the worker's
// locks. The interrupted attempts count. A resilient job (flag `infrastructure_resilient`) is recovered after a longer
// threshold.
//
//   alive ──threshold──▶ all jobs except resilient ones recovered, lease marked
//         ──resilient threshold──▶ resilient jobs recovered, lease deleted
//
// A heartbeat never creates a lease, so a worker whose lease was deleted has to register again. A worker without a
// lease is unknown (`orphans`).
import { HOUR, type Job, type Lease, lockedJobsOf, MS, unlock, type World } from "./world.ts";

export const RESILIENT = "infrastructure_resilient";

export interface LeaseTerms {
  readonly thresholdMs: number;
  readonly resilientThresholdMs: number;
}

/** Creates the worker's lease if there is none. */
export function enlist({ leases, now }: World, id: string, terms: LeaseTerms): void {
  if (!leases.has(id)) leases.set(id, { ...terms, beatAt: now, isRecovered: false });
}

/** Renews the lease. Returns `recovered` if a sweep has marked the lease, and `gone` if there is no lease. */
export function heartbeat({ leases, now }: World, id: string): "alive" | "recovered" | "gone" {
  const lease = leases.get(id);
  if (lease === undefined) return "gone";
  lease.beatAt = now;
  return lease.isRecovered ? "recovered" : "alive";
}

export interface Swept {
  readonly workers: readonly string[];
  readonly jobs: number;
  readonly queues: number;
}

/** The sweep that workers run: recovers jobs of stale workers. */
export function sweep(world: World, delayMs: number): Swept {
  const stale = [...world.leases.keys()].filter((id) => isStale(world, id, 0)).sort();
  const recovered = stale.filter((id) => world.leases.get(id)?.isRecovered === true);
  const holders = stale.filter((id) => lockedJobsOf(world, id).length > 0);
  const reported = stale.filter((id) => !recovered.includes(id) || holders.includes(id));
  return { workers: reported, ...recover(world, stale, 0, delayMs) };
}

export interface SweptByHand {
  readonly stale: readonly string[];
  readonly orphans: readonly string[];
  readonly spared: readonly string[];
  readonly jobs: number;
  readonly queues: number;
}

/**
 * The sweep by hand: recovers jobs of stale workers, and of unknown workers whose newest lock is older than
 * `thresholdMs`. `thresholdMs` replaces shorter thresholds of leases. `spared`: workers that a longer threshold of
 * their lease protects.
 */
export function sweepByHand(world: World, thresholdMs: number, delayMs: number): SweptByHand {
  const silent = [...world.leases]
    .filter(([, { beatAt }]) => world.now - beatAt > thresholdMs * MS)
    .map(([id]) => id)
    .sort();
  const stale = silent.filter((id) => isStale(world, id, thresholdMs));
  const spared = silent.filter((id) => !stale.includes(id));
  const orphans = holdersWithoutLease(world)
    .filter((id) => newestLock(world, id) < world.now - thresholdMs * MS)
    .sort();
  return {
    stale,
    spared,
    orphans,
    ...recover(world, [...stale, ...orphans], thresholdMs, delayMs),
  };
}

function isStale({ leases, now }: World, id: string, givenMs: number): boolean {
  const lease = leases.get(id) as Lease;
  const ownMs = lease.isRecovered ? lease.resilientThresholdMs : lease.thresholdMs;
  return now - lease.beatAt > Math.max(ownMs, givenMs) * MS;
}

/**
 * Until a stale worker's resilient threshold has passed, a resilient job of the worker and the job's named queue stay
 * locked. If only the job stayed locked, later jobs of the queue could overtake the job.
 */
function recover(world: World, ids: readonly string[], givenMs: number, delayMs: number) {
  const counts = { jobs: 0, queues: 0 };
  for (const id of ids) {
    const lease = world.leases.get(id);
    const isFinal = lease === undefined || isOver(world, lease, givenMs);
    const isOld = ({ lockedAt }: { lockedAt: number | null }) =>
      lease !== undefined || (lockedAt ?? 0) < world.now - givenMs * MS;
    const locked = lockedJobsOf(world, id).filter(isOld);
    const due = locked.filter(({ flags }) => isFinal || !flags.includes(RESILIENT));
    const waiting = locked.filter((job) => !due.includes(job)).map(({ queue }) => queue);
    for (const [name, queue] of world.queues) {
      if (queue.lockedBy !== id || !isOld(queue) || waiting.includes(name)) continue;
      unlock(queue);
      counts.queues++;
    }
    for (const job of due) recoverJob(world, job, lease !== undefined, delayMs);
    counts.jobs += due.length;
    if (lease !== undefined && isFinal) world.leases.delete(id);
    else if (lease !== undefined) lease.isRecovered = true;
  }
  return counts;
}

const isOver = ({ now }: World, { beatAt, resilientThresholdMs }: Lease, givenMs: number) =>
  now - beatAt > Math.max(resilientThresholdMs, givenMs) * MS;

/** Without a delay, a job of a named queue keeps its run_at: later jobs of the queue must not overtake the job. */
function recoverJob(world: World, job: Job, hasLease: boolean, delayMs: number): void {
  const message = hasLease
    ? `Recovered: worker ${job.lockedBy} stopped without finishing attempt ${job.attempts}`
    : `Recovered: attempt ${job.attempts} was locked since … by ${job.lockedBy}, which sends no heartbeat`;
  const keepsPlace = job.queue !== null && delayMs === 0;
  if (!keepsPlace) job.runAt = Math.max(job.runAt, world.now + delayMs * MS);
  freed(job, message);
}

function freed(job: Job, message: string): void {
  job.lastError = counted(job.lastError, message);
  unlock(job);
}

/** From the second recovery in a row, the error has the number of recoveries. */
function counted(before: string | null, message: string): string {
  const times = /^Recovered (\d+) times in a row: /.exec(before ?? "")?.[1];
  const earlier = times ?? (before?.startsWith("Recovered: ") ? "1" : null);
  const rest = message.replace(/^Recovered: /, "");
  return earlier === null ? message : `Recovered ${Number(earlier) + 1} times in a row: ${rest}`;
}

const locksOf = (world: World, id: string) =>
  [...world.jobs.values(), ...world.queues.values()].filter(({ lockedBy }) => lockedBy === id);

const newestLock = (world: World, id: string) =>
  Math.max(...locksOf(world, id).map(({ lockedAt }) => lockedAt ?? 0));

function holdersWithoutLease(world: World): string[] {
  const holders = [...world.jobs.values(), ...world.queues.values()].map((lock) => lock.lockedBy);
  return [...new Set(holders)].filter((id) => id !== null).filter((id) => !world.leases.has(id));
}

/** Removes locks older than 4 hours whose worker has no lease. */
export function resetOldLocks(world: World): { jobs: number; queues: number } {
  const isOld = ({ lockedBy, lockedAt }: { lockedBy: string | null; lockedAt: number | null }) => {
    const hasLease = world.leases.has(lockedBy ?? "");
    return lockedAt !== null && lockedAt < world.now - 4 * HOUR && !hasLease;
  };
  const jobs = [...world.jobs.values()].filter(isOld);
  const queues = [...world.queues.values()].filter(isOld);
  for (const job of jobs) {
    job.runAt = Math.max(job.runAt, world.now);
    freed(
      job,
      `Recovered: worker ${job.lockedBy} held attempt ${job.attempts} for more than 4 hours`,
    );
  }
  for (const queue of queues) unlock(queue);
  return { jobs: jobs.length, queues: queues.length };
}

/** If the lock of one of the `running` jobs is older than an hour, renews all locks of the worker that are that old. */
export function renew(world: World, by: string, running: readonly number[]) {
  const isOld = (lock: { lockedBy: string | null; lockedAt: number | null }) =>
    lock.lockedBy === by && (lock.lockedAt ?? 0) < world.now - HOUR;
  const isNeeded = running.some((place) => {
    const job = world.jobs.get(place);
    return job !== undefined && isOld(job);
  });
  const jobs = isNeeded ? [...world.jobs.values()].filter(isOld) : [];
  const queues = isNeeded ? [...world.queues.values()].filter(isOld) : [];
  for (const lock of [...jobs, ...queues]) lock.lockedAt = world.now;
  return { jobs: jobs.length, queues: queues.length };
}

/** Removes all locks of the worker, also while its lease is valid. */
export function forceUnlock(world: World, id: string): { jobs: number; queues: number } {
  const jobs = lockedJobsOf(world, id);
  const queues = [...world.queues.values()].filter(({ lockedBy }) => lockedBy === id);
  for (const lock of [...jobs, ...queues]) unlock(lock);
  return { jobs: jobs.length, queues: queues.length };
}
