// How attempts end in the model of the queue. A worker can end an attempt only while the worker holds the job's lock.
// finish(), fail() and giveBack() return the places (ids) of the jobs that the worker has not locked.
//
// A fast lane locks jobs by row locks, which no column shows. So in the model, a fast lane can end an attempt of any
// job without a worker's id in `lockedBy`. Such an attempt counts only if it fails.
import { isAvailable, type Job, lockedJobsOf, SECOND, unlock, type World } from "./world.ts";

/** A worker's id, or null for a fast lane. */
export type Holder = string | null;

/** Calls `end` for each job at `places` that `by` has locked. Returns the other places in ascending order. */
function fenced(
  world: World,
  by: Holder,
  places: readonly number[],
  end: (job: Job) => void,
): number[] {
  return [...places]
    .sort((a, b) => a - b)
    .filter((place) => {
      const job = world.jobs.get(place);
      if (job === undefined || job.lockedBy !== by) return true;
      end(job);
      return false;
    });
}

/** Ends attempts that succeeded, and deletes the jobs. */
export const finish = (world: World, by: Holder, places: readonly number[]): number[] =>
  fenced(world, by, places, ({ place }) => void world.jobs.delete(place));

/** Ends attempts that failed. */
export const fail = (world: World, by: Holder, places: readonly number[], error: string) =>
  fenced(world, by, places, (job) => {
    job.lastError = error;
    if (by === null) job.attempts++;
    job.runAt = Math.max(world.now, job.runAt) + retryDelay(job.attempts);
    unlock(job);
  });

/** In microseconds: 2.7 s, 7.4 s, 20 s, …, and 6 hours from the tenth attempt on. */
const retryDelay = (attempts: number) => Math.round(Math.exp(Math.min(attempts, 10)) * SECOND);

/**
 * Gives back jobs that were not started. Their attempts do not count. If a job has lost its key since the fetch, a
 * caller has removed or replaced the job, so giveBack() deletes the job. If a job of a named queue is given back, and
 * an available job has the same priority and run_at, the given-back job gets an earlier run_at, to stay ahead.
 */
export function giveBack(world: World, by: string, places: readonly number[]): number[] {
  const isRemoved = (job: Job) => job.key === null && world.keyed.has(job.place);
  const locked = lockedJobsOf(world, by).filter(
    (job) => places.includes(job.place) && !isRemoved(job),
  );
  const fromLast = locked.sort((a, b) => b.runAt - a.runAt || b.place - a.place);
  const earlier = new Map(
    fromLast.map((job, index) => [job, hasEquals(world, job) ? index + 1 : 0] as const),
  );
  return fenced(world, by, places, (job) => {
    if (isRemoved(job)) return void world.jobs.delete(job.place);
    job.runAt -= earlier.get(job) ?? 0;
    job.attempts = Math.max(0, job.attempts - 1);
    unlock(job);
  });
}

const hasEquals = (world: World, { queue, priority, runAt }: Job) =>
  queue !== null &&
  [...world.jobs.values()].some(
    (one) => isAvailable(one) && one.priority === priority && one.runAt === runAt,
  );

/** Returns the queues that the worker has locked and in which it has locked no job, except jobs at `ending`. */
export function spentQueues(world: World, by: Holder, ending: readonly number[]): string[] {
  if (by === null) return [];
  const left = lockedJobsOf(world, by).filter(({ place }) => !ending.includes(place));
  return [...world.queues]
    .filter(([name, { lockedBy }]) => lockedBy === by && !left.some(({ queue }) => queue === name))
    .map(([name]) => name);
}

/** Unlocks those of the queues that the worker still has locked. */
export function unlockQueues(world: World, by: Holder, names: readonly string[]): void {
  for (const name of names) {
    const queue = world.queues.get(name);
    if (queue?.lockedBy === by) unlock(queue);
  }
}
