// A job as its SQL row and as the `Job` everybody else sees. The only place that knows the columns.
//
// Nothing here depends on the session: times leave PostgreSQL as milliseconds since the epoch, never
// through DateStyle or TimeZone; ids and payloads as text, never through a parser.
import type { Job, JobState } from "../domain/job.ts";

/** What `jobColumns` selects, as `query()` delivers it. */
export interface JobRow {
  readonly id: string;
  readonly task_id: number;
  readonly task_identifier: string | null;
  readonly job_queue_id: number | null;
  readonly queue_name: string | null;
  readonly payload: string;
  readonly priority: number;
  readonly run_at_ms: string | number;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly created_at_ms: string | number;
  readonly updated_at_ms: string | number;
  readonly key: string | null;
  readonly locked_at_ms: string | null;
  readonly locked_by: string | null;
  readonly revision: number;
  readonly flags: string | null;
  readonly is_available: boolean;
  readonly state: JobState;
}

/**
 * A time column as milliseconds: numeric, because float output depends on extra_float_digits and an
 * integer cannot hold infinity.
 */
export const milliseconds = (column: string) => `floor(extract(epoch from ${column}) * 1000)`;

/** Expects the tables under the names `jobs`, `tasks` and `queues`; see `jobNames`. */
export const jobColumns = `
  jobs.id, jobs.task_id, tasks.identifier as task_identifier,
  jobs.job_queue_id, queues.queue_name, jobs.payload, jobs.priority,
  ${milliseconds("jobs.run_at")} as run_at_ms,
  jobs.attempts, jobs.max_attempts, jobs.last_error,
  ${milliseconds("jobs.created_at")} as created_at_ms,
  ${milliseconds("jobs.updated_at")} as updated_at_ms,
  jobs.key, ${milliseconds("jobs.locked_at")} as locked_at_ms, jobs.locked_by,
  jobs.revision, jobs.flags, jobs.is_available,
  case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > now() then 'scheduled'
    else 'ready'
  end as state`;

/** Joins a job's task and queue. Left joins: neither has a foreign key, so a row can be missing. */
export const jobNames = (schema: string) => `
  left join ${schema}._private_tasks as tasks on tasks.id = jobs.task_id
  left join ${schema}._private_job_queues as queues on queues.id = jobs.job_queue_id`;

/** The job of a row. */
export function toJob(row: JobRow): Job {
  return new StoredJob(row);
}

// A class, not a literal with a getter in it: a batch makes ten thousand of them.
class StoredJob implements Job {
  readonly id: string;
  readonly taskId: number;
  readonly taskIdentifier: string | null;
  readonly queueId: number | null;
  readonly queueName: string | null;
  readonly payloadText: string;
  readonly priority: number;
  readonly runAt: Date;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly key: string | null;
  readonly lockedAt: Date | null;
  readonly lockedBy: string | null;
  readonly revision: number;
  readonly flagsText: string | null;
  readonly isAvailable: boolean;
  readonly state: JobState;
  #parsed: { readonly payload: unknown } | undefined;

  constructor(row: JobRow) {
    this.id = row.id;
    this.taskId = row.task_id;
    this.taskIdentifier = row.task_identifier;
    this.queueId = row.job_queue_id;
    this.queueName = row.queue_name;
    this.payloadText = row.payload;
    this.priority = row.priority;
    this.runAt = toDate(row.run_at_ms);
    this.attempts = row.attempts;
    this.maxAttempts = row.max_attempts;
    this.lastError = row.last_error;
    this.createdAt = toDate(row.created_at_ms);
    this.updatedAt = toDate(row.updated_at_ms);
    this.key = row.key;
    this.lockedAt = row.locked_at_ms === null ? null : toDate(row.locked_at_ms);
    this.lockedBy = row.locked_by;
    this.revision = row.revision;
    this.flagsText = row.flags;
    this.isAvailable = row.is_available;
    this.state = row.state;
  }

  /** Parsed when somebody first looks at it. */
  get payload(): unknown {
    this.#parsed ??= { payload: JSON.parse(this.payloadText) };
    return this.#parsed.payload;
  }

  toJSON(): object {
    return { ...this, payload: this.payload };
  }
}

// RFC 3339 ends with the year 9999; PostgreSQL goes on to 294276 and then has `infinity`.
const EARLIEST_MS = Date.parse("0001-01-01T00:00:00.000Z");
const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** A Date from `milliseconds()`; `infinity` and what RFC 3339 cannot say become the nearest it can. */
export function toDate(ms: string | number): Date {
  return new Date(Math.min(LATEST_MS, Math.max(EARLIEST_MS, Number(ms))));
}
