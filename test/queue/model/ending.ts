// How attempts end, and when a job is retried. A worker can end an attempt only while it holds the job's lock:
// each call returns the places of the jobs whose lock was lost, and does not change those jobs.
//
// A fast lane locks jobs by row locks, which no column shows. So in the model it can end the attempt of any job without
// a worker's id in its row. The attempt is counted when it ends.
import { isAvailable, type Job, lockedJobsOf, SECOND, unlock, type World } from "./world.ts";

/** A worker's id, or null for a fast lane. */
export type Holder = string | null;

/** Calls `end` for each of the jobs that `by` has locked. Returns the places of the others. */
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

/** The jobs succeeded: they are deleted. */
export const finish = (world: World, by: Holder, places: readonly number[]): number[] =>
  fenced(world, by, places, ({ place }) => void world.jobs.delete(place));

/** The jobs failed: they are due again after a delay that grows with each attempt, while attempts are left. */
export const fail = (world: World, by: Holder, places: readonly number[], error: string) =>
  fenced(world, by, places, (job) => {
    job.lastError = error;
    if (by === null) job.attempts++;
    job.runAt = Math.max(world.now, job.runAt) + retryDelay(job.attempts);
    unlock(job);
  });

/** 2.7 s, 7.4 s, 20 s, … and 6 hours from the tenth attempt on. */
const retryDelay = (attempts: number) => Math.round(Math.exp(Math.min(attempts, 10)) * SECOND);

/**
 * The jobs were not started: their attempt does not count. If a job has lost its key in the meantime, a caller has
 * removed or replaced it: it is deleted. A job of a named queue must stay ahead of available jobs with its priority and
 * time. If such jobs exist, it becomes earlier: the last returned job by 1 µs, each one before it by 1 µs more.
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

/** Returns the queues that the worker has locked, and in which it has no job locked besides those in `ending`. */
export function spentQueues(world: World, by: Holder, ending: readonly number[]): string[] {
  if (by === null) return [];
  const left = lockedJobsOf(world, by).filter(({ place }) => !ending.includes(place));
  return [...world.queues]
    .filter(([name, { lockedBy }]) => lockedBy === by && !left.some(({ queue }) => queue === name))
    .map(([name]) => name);
}

/** Unlocks queues, except those that another worker has locked by now. */
export function unlockQueues(world: World, by: Holder, names: readonly string[]): void {
  for (const name of names) {
    const queue = world.queues.get(name);
    if (queue?.lockedBy === by) unlock(queue);
  }
}
