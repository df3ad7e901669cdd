// Which jobs a worker is given, and in which order.
import { isAvailable, type Job, type World } from "./world.ts";

export interface Taking {
  readonly by: string;
  readonly want: number;
  readonly tasks: readonly string[];
  readonly forbidden: readonly string[];
  /** Which part of a run of a named queue a job takes up; null = unknown. */
  readonly share: number | null;
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
 * use its attempts up. A named queue is held as long as the jobs that were taken of it, and a run of it is
 * no longer than the speed of its jobs allows: one job, where that is unknown.
 */
export function take(world: World, taking: Taking, preferred: readonly number[]): number[] {
  const ready = [...world.jobs.values()]
    .filter((job) => isReadyFor(world, taking, job))
    .sort(
      (a, b) =>
        byUrgency(a, b) ||
        Number(preferred.includes(b.place)) - Number(preferred.includes(a.place)),
    );
  const runs = cut(ready.filter(({ queue }) => queue !== null).slice(0, taking.want), taking);
  const taken = ready
    .filter((job) => job.queue === null || runs.includes(job))
    .slice(0, taking.want);
  const lock = { lockedBy: taking.by, lockedAt: world.now };
  for (const job of taken) {
    if (job.key === null) world.keyed.delete(job.place);
    else world.keyed.add(job.place);
    Object.assign(job, lock, { attempts: job.attempts + 1 });
    if (job.queue !== null) world.queues.set(job.queue, { ...lock });
  }
  return taken.map(({ place }) => place).sort((a, b) => a - b);
}

/** What of these jobs, which are in order, the runs of their queues hold. */
function cut(jobs: readonly Job[], { share }: Taking): Job[] {
  const most = share === null ? 1 : Math.max(1, Math.floor(1 / share));
  return jobs.filter(
    (job, index) => jobs.slice(0, index).filter(({ queue }) => queue === job.queue).length < most,
  );
}
