// The unit of work of a slot: a job, or a run of jobs of one named queue.
import type { FetchedJob } from "./fetched-job.ts";

/** Jobs of one named queue, which this worker has locked. One slot runs them in order. */
export class QueueRun {
  readonly queueId: number;
  readonly jobs: FetchedJob[] = [];

  constructor(queueId: number) {
    this.queueId = queueId;
  }
}

/** What one slot runs without a break: a job or a run of a queue. */
export type WorkUnit = FetchedJob | QueueRun;

export function jobsOf(unit: WorkUnit): readonly FetchedJob[] {
  return unit instanceof QueueRun ? unit.jobs : [unit];
}

/** Groups ordered jobs into units. */
export function workUnits(jobs: readonly FetchedJob[]): readonly WorkUnit[] {
  if (jobs.every((job) => job.queueId === null)) return jobs;
  const runs = new Map<number, QueueRun>();
  const units: WorkUnit[] = [];
  for (const job of jobs) {
    const { queueId } = job;
    if (queueId === null) {
      units.push(job);
      continue;
    }
    let run = runs.get(queueId);
    if (run === undefined) {
      run = new QueueRun(queueId);
      runs.set(queueId, run);
      units.push(run);
    }
    run.jobs.push(job);
  }
  return units;
}
