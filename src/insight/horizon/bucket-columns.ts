// SQL for the bucket and the condition of a job, for the horizon's statements. The parameters of these statements are
// $1 timestamptz[]: the bounds between buckets; $2 int[]: the ids of the locked queues; $3 int: the id of a task (null:
// any); $4 int: the id of a queue (null: any).

import { conditionOf, isQueueIn } from "../expressions/condition.ts";
import { failedAt } from "../expressions/failed-at.ts";
import type { BucketInput } from "./buckets.ts";

/**
 * Returns the columns `condition` and `bucket`. For a failed job, the bucket is the one that contains the time of the
 * failure; for any other job, the one that contains the due time.
 */
export const bucketColumns = (job: string): string => `
      ${conditionOf(job, null, { isQueueLocked: isQueueIn(job, "$2") })} as condition,
      pg_catalog.width_bucket(case when ${job}.locked_at is null and ${job}.attempts >= ${job}.max_attempts
        then ${failedAt(job)} else ${job}.run_at end, $1::timestamptz[]) as bucket`;

/**
 * Returns a condition: the job is not locked, and has the task and the queue of the filter. Locked jobs have no place
 * on the time axis.
 */
export const isOnAxis = (job: string): string => `${job}.locked_at is null
      and ($3::int is null or ${job}.task_id = $3::int)
      and ($4::int is null or ${job}.job_queue_id = $4::int)`;

export const bucketValues = ({ bounds, gauge, filter }: BucketInput): unknown[] => [
  bounds,
  gauge.lockedQueueIds,
  filter.taskId,
  filter.queueId,
];
