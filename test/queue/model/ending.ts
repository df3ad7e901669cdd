// How attempts end, and when a job is tried again. What a worker says about a job counts only while it
// holds it: each call gives the places of the jobs that it no longer holds, and leaves those alone.
//
// A fast lane holds jobs by row locks, which no row shows: to it a job is its own as long as nobody else's
// name stands there, and its attempt is counted when it ends.
import { heldBy, isAvailable, type Job, SECOND, unlock, type World } from "./world.ts";

/** A worker's id, or a fast lane. */
export type Holder = string | null;

/** Runs `end` on those that `by` holds; gives the others. */
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

/** They succeeded: they are gone. */
export const finish = (world: World, by: Holder, places: readonly number[]): number[] =>
  fenced(world, by, places, ({ place }) => void world.jobs.delete(place));

/** They failed: due again after a delay that grows with each attempt, as long as attempts are left. */
export const fail = (world: World, by: Holder, places: readonly number[], error: string) =>
  fenced(world, by, places, (job) => {
    job.lastError = error;
    if (by === null) job.attempts++;
    job.runAt = Math.max(world.now, job.runAt) + retryDelay(job.attempts);
    unlock(job);
  });

/** 2.7 s, 7.4 s, 20 s, … from the tenth attempt on 6 hours each. */
const retryDelay = (attempts: number) => Math.round(Math.exp(Math.min(attempts, 10)) * SECOND);

/**
 * They never started: their attempt does not count. A job that has lost its key since was removed: it goes.
 * In a named queue they stay in front of others of the same moment: by a microsecond each.
 */
export function giveBack(world: World, by: string, places: readonly number[]): number[] {
  const isRemoved = (job: Job) => job.key === null && world.keyed.has(job.place);
  const held = heldBy(world, by).filter((job) => places.includes(job.place) && !isRemoved(job));
  const fromLast = held.sort((a, b) => b.runAt - a.runAt || b.place - a.place);
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

/** The queues of which the worker has no job left to run once `ending` are over. */
export function spentQueues(world: World, by: Holder, ending: readonly number[]): string[] {
  if (by === null) return [];
  const left = heldBy(world, by).filter(({ place }) => !ending.includes(place));
  return [...world.queues]
    .filter(([name, { lockedBy }]) => lockedBy === by && !left.some(({ queue }) => queue === name))
    .map(([name]) => name);
}

/** Lets go of queues; of those that somebody else holds by now nothing. */
export function letGo(world: World, by: Holder, names: readonly string[]): void {
  for (const name of names) {
    const queue = world.queues.get(name);
    if (queue?.lockedBy === by) unlock(queue);
  }
}
