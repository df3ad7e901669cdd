// One named queue: its holder, its running job, its next jobs, and its newest jobs.
import type { Database } from "../../../database/database.ts";
import type { CountedNames } from "../counted-names.ts";
import { reportsOf } from "../worker-reports.ts";
import { type ListedQueue, withCounts } from "./list-queue-page.ts";
import { latestJobs, nextJobs, type QueuedJob, type QueuedJobs, runningJob } from "./queue-jobs.ts";
import { queueRow } from "./queue-rows.ts";

export interface QueueDetails {
  readonly queue: ListedQueue;
  /** The running job; null if there is none, or it cannot be found. */
  readonly running: QueuedJob | null;
  /** The next jobs in execution order. */
  readonly next: QueuedJobs;
  /** The newest jobs, newest first. */
  readonly arrivals: QueuedJobs;
}

/** Returns the queue; null if it does not exist. `limit`: the length of each list. */
export async function getQueue(
  db: Database,
  nameOrId: string,
  limit: number,
  counted: CountedNames,
): Promise<QueueDetails | null> {
  const row = await queueRow(db, nameOrId);
  if (row === null) return null;
  const [queue = null] = await withCounts(db, [row], counted, null);
  if (queue === null) return null;
  return {
    queue,
    running: await runningOf(db, queue),
    next: await nextJobs(db, queue, limit),
    arrivals: await latestJobs(db, queue, limit),
  };
}

async function runningOf(db: Database, { id, lockedBy }: ListedQueue): Promise<QueuedJob | null> {
  if (lockedBy === null) return null;
  const reports = await reportsOf(db, [lockedBy]);
  const reported = reports.get(lockedBy)?.current.map((job) => job.id) ?? [];
  return runningJob(db, id, reported);
}
