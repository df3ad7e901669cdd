// How attempts end, and when a job is tried again. What a worker says about a job counts only while it
// holds it: each call gives the places of the jobs that it no longer holds, and leaves those alone.
//
// A fast lane holds jobs by row locks, which no row shows: to it a job is its own as long as nobody else's
// name stands there, and its attempt is counted when it ends.
import { heldBy, type Job, SECOND, unlock, type World } from "./world.ts";

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

/** They never started: their attempt does not count. A job that has lost its key since was removed: it goes. */
export const giveBack = (world: World, by: string, places: readonly number[]): number[] =>
  fenced(world, by, places, (job) => {
    if (job.key === null && world.keyed.has(job.place)) return void world.jobs.delete(job.place);
    job.attempts = Math.max(0, job.attempts - 1);
    unlock(job);
  });

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
