// Which jobs a worker gets, and in which order.
import { isAvailable, type Job, type World } from "./world.ts";

export interface Taking {
  readonly by: string;
  readonly want: number;
  readonly tasks: readonly string[];
  readonly forbidden: readonly string[];
  /** Which part of a run of a named queue a job takes; null = unknown. */
  readonly share: number | null;
}

/** The jobs that a worker may take: due, of one of its tasks, in an unlocked queue or none. */
const isReadyFor = (world: World, { tasks, forbidden }: Taking, job: Job): boolean =>
  isAvailable(job) &&
  job.runAt <= world.now &&
  tasks.includes(job.task) &&
  !job.flags.some((flag) => forbidden.includes(flag)) &&
  (job.queue === null || world.queues.get(job.queue)?.lockedBy === null);

const byUrgency = (a: Job, b: Job) => a.priority - b.priority || a.runAt - b.runAt;

/**
 * Takes the most urgent jobs: lower priorities first, and the longest due within a priority. Among equals
 * any may come first, so those in `preferred` do. The attempt counts from here on: a job that kills its
 * worker must use up its attempts. A named queue is locked with its jobs, and a run of it is no longer than
 * the duration of its jobs allows: one job, if that is unknown.
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

/** Limits these jobs, which are in order, to the runs of their queues. */
function cut(jobs: readonly Job[], { share }: Taking): Job[] {
  const most = share === null ? 1 : Math.max(1, Math.floor(1 / share));
  return jobs.filter(
    (job, index) => jobs.slice(0, index).filter(({ queue }) => queue === job.queue).length < most,
  );
}
