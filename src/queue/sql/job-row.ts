// A job as an SQL row and as the `Job` that other layers use. Times are selected as microseconds since 1970, which do
// not depend on the session's DateStyle and TimeZone.
import type { Job, JobState } from "../../domain/job.ts";
import { stateOf } from "./job-state.ts";
import { dateOf, microseconds, timeText } from "./moments.ts";

/** A row of `jobColumns`, as `query()` returns it. */
export interface JobRow {
  readonly id: string;
  readonly task_id: number;
  readonly task_identifier: string | null;
  readonly job_queue_id: number | null;
  readonly queue_name: string | null;
  readonly payload: string;
  readonly priority: number;
  readonly run_at_us: string | number;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly created_at_us: string | number;
  readonly updated_at_us: string | number;
  readonly key: string | null;
  readonly locked_at_us: string | null;
  readonly locked_by: string | null;
  readonly revision: number;
  readonly flags: string | null;
  readonly is_available: boolean;
  readonly state: JobState;
}

interface LargeColumns {
  readonly payload: string;
  readonly lastError: string;
  readonly lockedBy: string;
  readonly flags: string;
}

/** Returns the columns of a JobRow. The tables must have the aliases `jobs`, `tasks` and `queues`; see `jobNames`. */
export const jobColumnsWith = ({ payload, lastError, lockedBy, flags }: LargeColumns) => `
  jobs.id::text, jobs.task_id, tasks.identifier as task_identifier,
  jobs.job_queue_id, queues.queue_name, (${payload})::text as payload, jobs.priority,
  ${microseconds("jobs.run_at")}::text as run_at_us,
  jobs.attempts, jobs.max_attempts, ${lastError} as last_error,
  ${microseconds("jobs.created_at")}::text as created_at_us,
  ${microseconds("jobs.updated_at")}::text as updated_at_us,
  jobs.key, ${microseconds("jobs.locked_at")}::text as locked_at_us, ${lockedBy} as locked_by,
  jobs.revision, (${flags})::text as flags, jobs.is_available,
  ${stateOf("jobs")} as state`;

export const jobColumns = jobColumnsWith({
  payload: "jobs.payload",
  lastError: "jobs.last_error",
  lockedBy: "jobs.locked_by",
  flags: "jobs.flags",
});

/** Returns the joins with a job's task and queue. No foreign key ensures that these rows exist. */
export const jobNames = (schema: string) => `
  left join ${schema}._private_tasks as tasks on tasks.id = jobs.task_id
  left join ${schema}._private_job_queues as queues on queues.id = jobs.job_queue_id`;

/** Returns the joins for a page of jobs. With a plain join, PostgreSQL could read all queues. */
export const pageNames = (schema: string) => `
  left join ${schema}._private_tasks as tasks on tasks.id = jobs.task_id
  left join lateral (
    select queue_name, locked_by, locked_at from ${schema}._private_job_queues
    where id = jobs.job_queue_id offset 0
  ) as queues on true`;

export function toJob(row: JobRow): Job {
  return new StoredJob(row);
}

// A class, because its instances are cheaper to create than object literals with a getter.
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
  // The row itself is not kept, because the row would keep the memory of its whole batch alive.
  readonly #runAtUs: string | number;
  readonly #createdAtUs: string | number;
  readonly #updatedAtUs: string | number;
  readonly #lockedAtUs: string | null;
  #parsed: { readonly payload: unknown } | undefined;

  constructor(row: JobRow) {
    this.#runAtUs = row.run_at_us;
    this.#createdAtUs = row.created_at_us;
    this.#updatedAtUs = row.updated_at_us;
    this.#lockedAtUs = row.locked_at_us;
    this.id = row.id;
    this.taskId = row.task_id;
    this.taskIdentifier = row.task_identifier;
    this.queueId = row.job_queue_id;
    this.queueName = row.queue_name;
    this.payloadText = row.payload;
    this.priority = row.priority;
    this.runAt = dateOf(row.run_at_us);
    this.attempts = row.attempts;
    this.maxAttempts = row.max_attempts;
    this.lastError = row.last_error;
    this.createdAt = dateOf(row.created_at_us);
    this.updatedAt = dateOf(row.updated_at_us);
    this.key = row.key;
    this.lockedAt = row.locked_at_us === null ? null : dateOf(row.locked_at_us);
    this.lockedBy = row.locked_by;
    this.revision = row.revision;
    this.flagsText = row.flags;
    this.isAvailable = row.is_available;
    this.state = row.state;
  }

  get payload(): unknown {
    this.#parsed ??= { payload: JSON.parse(this.payloadText) };
    return this.#parsed.payload;
  }

  get isDuplicate(): boolean {
    return this.revision > 0;
  }

  get runAtText(): string {
    return timeText(this.#runAtUs);
  }

  get createdAtText(): string {
    return timeText(this.#createdAtUs);
  }

  get updatedAtText(): string {
    return timeText(this.#updatedAtUs);
  }

  get lockedAtText(): string | null {
    return this.#lockedAtUs === null ? null : timeText(this.#lockedAtUs);
  }

  toJSON(): object {
    return { ...this, payload: this.payload };
  }
}
