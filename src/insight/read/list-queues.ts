// Lists the named queues with the numbers of their jobs.

import { InputError } from "../../base/errors.ts";
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { shownLock } from "../../queue/pauses/paused-run.ts";
import { stateCounts } from "../../queue/sql/job-state.ts";
import { dateOf, microseconds, timeText } from "../../queue/sql/moments.ts";

/** A named queue with the numbers of its jobs. */
export interface QueueSummary {
  /** The id of the queue's row. */
  readonly id: number;
  /** The name of the queue. */
  readonly queueName: string;
  /**
   * The time at which a worker locked the queue, or last renewed the lock; null when no worker has locked the queue. If
   * the worker's run of the queue has outlasted a pause, `lockedAt` is the time at which this pause ended.
   */
  readonly lockedAt: Date | null;
  /** `lockedAt` as RFC 3339 text with microseconds. */
  readonly lockedAtText: string | null;
  /** The id of the worker that holds the queue's lock; null when no worker has locked the queue. */
  readonly lockedBy: string | null;
  /** True when the queue is paused: no worker fetches its jobs. */
  readonly isPaused: boolean;
  /** The number of jobs. */
  readonly jobCount: number;
  /** The number of due jobs that have attempts left and are not locked, even if the queue is locked. */
  readonly readyCount: number;
  /** The number of jobs that are due in the future, for their first attempt or for a retry. */
  readonly scheduledCount: number;
  /** The number of locked jobs. */
  readonly lockedCount: number;
  /** The number of failed jobs. */
  readonly failedCount: number;
}

interface QueueRow {
  readonly id: number;
  readonly queue_name: string;
  readonly locked_at_us: string | null;
  readonly locked_by: string | null;
  readonly is_paused: boolean;
  readonly job_count: string;
  readonly ready_count: string;
  readonly scheduled_count: string;
  readonly locked_count: string;
  readonly failed_count: string;
}

const MAX_QUEUES = 10_000;

/**
 * Returns up to `limit` named queues (0–10,000). Queues that a worker has locked come first, oldest lock first. Reads
 * the whole table of jobs. Throws InputError for an invalid `limit`.
 */
export async function listQueues(db: Database, limit: number = 1_000): Promise<QueueSummary[]> {
  if (!Number.isInteger(limit) || limit < 0 || limit > MAX_QUEUES) {
    const message = `must be a whole number from 0 to ${MAX_QUEUES}`;
    throw new InputError([{ path: "limit", message }]);
  }
  const rows = await query<QueueRow>(db, queuesSql, [limit]);
  return rows.map(toQueue);
}

function toQueue(row: QueueRow): QueueSummary {
  return {
    id: row.id,
    queueName: row.queue_name,
    lockedAt: row.locked_at_us === null ? null : dateOf(row.locked_at_us),
    lockedAtText: row.locked_at_us === null ? null : timeText(row.locked_at_us),
    lockedBy: row.locked_by,
    isPaused: row.is_paused,
    jobCount: Number(row.job_count),
    readyCount: Number(row.ready_count),
    scheduledCount: Number(row.scheduled_count),
    lockedCount: Number(row.locked_count),
    failedCount: Number(row.failed_count),
  };
}

const lock = shownLock("queues");

// The jobs are counted before the join with the queues. This saves 7.5 of 10 s with 10 million jobs in 5,000 queues.
const queuesSql: Statement = (schema) => `
  with counts as (
    select
      job_queue_id,
      pg_catalog.count(*) as job_count,
      ${stateCounts("jobs", "_count")}
    from ${schema}._private_jobs as jobs
    where job_queue_id is not null
    group by job_queue_id
  )
  select
    queues.id, queues.queue_name,
    ${microseconds(lock.lockedAt)}::text as locked_at_us, ${lock.holder} as locked_by,
    ${lock.isPaused} as is_paused,
    coalesce(counts.job_count, 0)::text as job_count,
    coalesce(counts.ready_count, 0)::text as ready_count,
    coalesce(counts.scheduled_count, 0)::text as scheduled_count,
    coalesce(counts.locked_count, 0)::text as locked_count,
    coalesce(counts.failed_count, 0)::text as failed_count
  from ${schema}._private_job_queues as queues
  left join counts on counts.job_queue_id = queues.id
  order by queues.locked_at nulls last, queues.queue_name
  limit $1::int`;
