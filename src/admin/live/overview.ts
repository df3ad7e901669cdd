// The overview: everything that the first page shows, as one JSON text.
import { now } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { countJobs } from "../../queue/read/count-jobs.ts";
import { countQueues } from "../../queue/read/count-queues.ts";
import { listQueues, type QueueSummary } from "../../queue/read/list-queues.ts";
import { type ActiveWorker, listActiveWorkers } from "../../queue/workers/list-active-workers.ts";
import { type LockedWorker, listLockedWorkers } from "../../queue/workers/list-locked-workers.ts";

/** The overview without its last member `as_of`, so that two can be compared. */
export interface OverviewText {
  readonly members: string;
  readonly asOf: string;
}

// More than a page shows; keeps what each viewer is sent bounded.
const MAX_QUEUES = 1_000;

export async function readOverview(db: Database): Promise<OverviewText> {
  // One after the other: an overview must not take every connection of a small pool.
  const stats = await countJobs(db);
  const queues = await listQueues(db, MAX_QUEUES);
  const queueTotal = queues.length < MAX_QUEUES ? queues.length : await countQueues(db);
  const workers = await listLockedWorkers(db);
  const activeWorkers = await listActiveWorkers(db);
  const members = [
    `"stats":${JSON.stringify(stats)}`,
    `"queues":${JSON.stringify(queues.map(queueJson))}`,
    `"queue_total":${queueTotal}`,
    `"workers":${JSON.stringify(workers.map(lockedWorkerJson))}`,
    `"active_workers":[${activeWorkers.map(activeWorkerJson).join(",")}]`,
  ];
  return { members: members.join(","), asOf: new Date(now()).toISOString() };
}

export function overviewJson({ members, asOf }: OverviewText): string {
  return `{${members},"as_of":${JSON.stringify(asOf)}}`;
}

/** The contract's queue. */
export function queueJson(queue: QueueSummary) {
  return {
    id: queue.id,
    queue_name: queue.queueName,
    locked_at: queue.lockedAtText,
    locked_by: queue.lockedBy,
    job_count: queue.jobCount,
    ready_count: queue.readyCount,
    scheduled_count: queue.scheduledCount,
    locked_count: queue.lockedCount,
    failed_count: queue.failedCount,
  };
}

/** The contract's worker that holds locks. */
export function lockedWorkerJson({ workerId, lockedJobs, lockedQueues }: LockedWorker) {
  return { worker_id: workerId, locked_jobs: lockedJobs, locked_queues: lockedQueues };
}

/** The contract's worker with a heartbeat. By hand: its metadata passes as the text that it is. */
export function activeWorkerJson(worker: ActiveWorker): string {
  const known = JSON.stringify({
    worker_id: worker.workerId,
    last_heartbeat_at: worker.lastHeartbeatAtText,
    started_at: worker.startedAtText,
    is_stale: worker.isStale,
  });
  return `${known.slice(0, -1)},"metadata":${worker.metadataText ?? "null"}}`;
}
