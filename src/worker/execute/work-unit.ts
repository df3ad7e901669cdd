// The unit of work of a slot: a job, or a run of jobs of one named queue.
import type { FetchedJob } from "./fetched-job.ts";

/** Jobs of one named queue. This worker has locked the queue, or one of its slots. One slot runs them in order. */
export class QueueRun {
  readonly lock: number;
  readonly jobs: FetchedJob[] = [];

  constructor(lock: number) {
    this.lock = lock;
  }
}

/** What one slot runs without a break: a job or a run of a queue. */
export type WorkUnit = FetchedJob | QueueRun;

export function jobsOf(unit: WorkUnit): readonly FetchedJob[] {
  return unit instanceof QueueRun ? unit.jobs : [unit];
}

/** Groups ordered jobs into units. */
export function workUnits(jobs: readonly FetchedJob[]): readonly WorkUnit[] {
  if (jobs.every((job) => job.runLock === null)) return jobs;
  const runs = new Map<number, QueueRun>();
  const units: WorkUnit[] = [];
  for (const job of jobs) {
    const { runLock } = job;
    if (runLock === null) {
      units.push(job);
      continue;
    }
    let run = runs.get(runLock);
    if (run === undefined) {
      run = new QueueRun(runLock);
      runs.set(runLock, run);
      units.push(run);
    }
    run.jobs.push(job);
  }
  return units;
}
