// Which jobs a worker is given, and in which order.
import { isAvailable, type Job, type World } from "./world.ts";

export interface Taking {
  readonly by: string;
  readonly want: number;
  readonly tasks: readonly string[];
  readonly forbidden: readonly string[];
}

/** What a worker may take: due, of a task that it knows, in a queue that nobody holds if in any. */
const isReadyFor = (world: World, { tasks, forbidden }: Taking, job: Job): boolean =>
  isAvailable(job) &&
  job.runAt <= world.now &&
  tasks.includes(job.task) &&
  !job.flags.some((flag) => forbidden.includes(flag)) &&
  (job.queue === null || world.queues.get(job.queue)?.lockedBy === null);

const byUrgency = (a: Job, b: Job) => a.priority - b.priority || a.runAt - b.runAt;

/**
 * Takes the most urgent jobs: lower priorities first, of one priority the longest due. Of equals any may
 * come first, so those in `preferred` do. An attempt counts from here on: a job that kills its worker must
 * use its attempts up. A named queue is held as long as the jobs that were taken of it.
 */
export function take(world: World, taking: Taking, preferred: readonly number[]): number[] {
  const ready = [...world.jobs.values()]
    .filter((job) => isReadyFor(world, taking, job))
    .sort(
      (a, b) =>
        byUrgency(a, b) ||
        Number(preferred.includes(b.place)) - Number(preferred.includes(a.place)),
    )
    .slice(0, taking.want);
  const lock = { lockedBy: taking.by, lockedAt: world.now };
  for (const job of ready) {
    Object.assign(job, lock, { attempts: job.attempts + 1 });
    if (job.queue !== null) world.queues.set(job.queue, { ...lock });
  }
  return ready.map(({ place }) => place).sort((a, b) => a - b);
}
