// A part of the model of a queue (world.ts): a worker's fetch, which selects jobs and locks them.
import { isAvailable, type Job, type World } from "./world.ts";

export interface Taking {
  readonly by: string;
  readonly want: number;
  readonly tasks: readonly string[];
  readonly forbidden: readonly string[];
  /** The expected duration of a job, divided by the maximum duration of a run of a named queue; null: unknown. */
  readonly share: number | null;
}

const isReadyFor = (world: World, { tasks, forbidden }: Taking, job: Job): boolean =>
  isAvailable(job) &&
  job.runAt <= world.now &&
  tasks.includes(job.task) &&
  !job.flags.some((flag) => forbidden.includes(flag)) &&
  (job.queue === null || world.queues.get(job.queue)?.lockedBy === null);

const byUrgency = (a: Job, b: Job) => a.priority - b.priority || a.runAt - b.runAt;

/**
 * Takes the most urgent jobs for the worker, and returns their places in ascending order. Of equally urgent jobs, the
 * product may take any, so the model first takes those in `preferred`: the places of the jobs that the product took.
 * The attempt counts as soon as the job is taken, so that a job that kills its worker uses up its attempts. The jobs of
 * one named queue must fit into one run: at most 1 / `share` jobs, rounded down, but at least one job. If `share` is
 * null, a run has one job.
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

/** Returns the first jobs of each queue, as many as fit into one run. `jobs` must be sorted by urgency. */
function cut(jobs: readonly Job[], { share }: Taking): Job[] {
  const most = share === null ? 1 : Math.max(1, Math.floor(1 / share));
  return jobs.filter(
    (job, index) => jobs.slice(0, index).filter(({ queue }) => queue === job.queue).length < most,
  );
}
