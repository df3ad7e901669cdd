// Converts queues, workers with locks and workers with heartbeats into the JSON of the HTTP API. The admin and the
// command line use it.

import type { ActiveWorker } from "../read/list-active-workers.ts";
import type { LockedWorker } from "../read/list-locked-workers.ts";
import type { QueueSummary } from "../read/list-queues.ts";

/** Returns a queue as in the HTTP API. */
export function queueJson(queue: Omit<QueueSummary, "lockedAt">) {
  return {
    id: queue.id,
    queue_name: queue.queueName,
    locked_at: queue.lockedAtText,
    locked_by: queue.lockedBy,
    is_paused: queue.isPaused,
    job_count: queue.jobCount,
    ready_count: queue.readyCount,
    scheduled_count: queue.scheduledCount,
    locked_count: queue.lockedCount,
    failed_count: queue.failedCount,
  };
}

/** Returns a worker that holds locks, as in the HTTP API. */
export function lockedWorkerJson({ workerId, lockedJobs, lockedQueues }: LockedWorker) {
  return { worker_id: workerId, locked_jobs: lockedJobs, locked_queues: lockedQueues };
}

/**
 * Returns the JSON text of a worker with a heartbeat, as in the HTTP API. The worker's metadata is JSON text already,
 * and is inserted unparsed.
 */
export function activeWorkerJson(worker: ActiveWorker): string {
  const members = JSON.stringify({
    worker_id: worker.workerId,
    last_heartbeat_at: worker.lastHeartbeatAtText,
    started_at: worker.startedAtText,
    is_stale: worker.isStale,
    metadata_left_out: worker.isMetadataOmitted,
  });
  return `${members.slice(0, -1)},"metadata":${worker.metadataText ?? "null"}}`;
}
