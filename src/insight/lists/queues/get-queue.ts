// One named queue: its lock, pause and counts, its running job, its next jobs and its newest jobs.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { pausedRun } from "../../../queue/pauses/paused-run.ts";
import type { CountedNames } from "../counted-names.ts";
import { reportsOf } from "../worker-reports.ts";
import { type ListedQueue, withCounts } from "./list-queue-page.ts";
import { latestJobs, nextJobs, type QueuedJob, type QueuedJobs, runningJob } from "./queue-jobs.ts";
import { queueRow } from "./queue-rows.ts";

export interface QueueDetails {
  readonly queue: ListedQueue;
  /**
   * The running job: of the queue's locked jobs, the job with the oldest lock. null: no job runs, the job was not
   * found, or the queue is under a limit of queues.
   */
  readonly running: QueuedJob | null;
  /** The first due jobs, in execution order. */
  readonly next: QueuedJobs;
  /** The newest jobs, newest first. */
  readonly arrivals: QueuedJobs;
}

/** Returns the queue; null if it does not exist. `limit`: the maximum length of `next`, and of `arrivals`. */
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

async function runningOf(db: Database, queue: ListedQueue): Promise<QueuedJob | null> {
  const workerId = queue.isPaused ? await readPausedRun(db, queue.id) : queue.lockedBy;
  if (workerId === null) return null;
  const reports = await reportsOf(db, [workerId]);
  const reported = reports.get(workerId)?.current.map((job) => job.id) ?? [];
  return runningJob(db, queue.id, reported);
}

const pausedRunSql: Statement = (s) => `
  select pg_catalog.left(${pausedRun("queues")}, 1024) as worker_id
  from ${s}._private_job_queues as queues where queues.id = $1::int`;

/** Returns the id of the worker whose run of a paused queue began before the pause; null: there is no such run. */
export async function readPausedRun(db: Database, queueId: number): Promise<string | null> {
  const [row] = await query<{ worker_id: string | null }>(db, pausedRunSql, [queueId]);
  return row?.worker_id ?? null;
}
