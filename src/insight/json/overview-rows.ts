// The contract's rows of an overview, for the admin and the command line.

import type { ActiveWorker } from "../read/list-active-workers.ts";
import type { LockedWorker } from "../read/list-locked-workers.ts";
import type { QueueSummary } from "../read/list-queues.ts";

/** The contract's queue. */
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

/** The contract's worker that holds locks. */
export function lockedWorkerJson({ workerId, lockedJobs, lockedQueues }: LockedWorker) {
  return { worker_id: workerId, locked_jobs: lockedJobs, locked_queues: lockedQueues };
}

/** The contract's worker with a heartbeat. Hand-written: its metadata is passed on as text. */
export function activeWorkerJson(worker: ActiveWorker): string {
  const known = JSON.stringify({
    worker_id: worker.workerId,
    last_heartbeat_at: worker.lastHeartbeatAtText,
    started_at: worker.startedAtText,
    is_stale: worker.isStale,
    metadata_left_out: worker.isMetadataOmitted,
  });
  return `${known.slice(0, -1)},"metadata":${worker.metadataText ?? "null"}}`;
}
