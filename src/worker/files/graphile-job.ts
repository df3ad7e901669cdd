// The job of a task in a file, with Graphile Worker's names. This library's names are members of the object's
// prototype, so copies and JSON of the object omit these names.
import { monotonic, now } from "../../base/clock.ts";
import type { Job } from "../../domain/job.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import type { TaskJob } from "../task/task-job.ts";

/** A job's row with Graphile Worker's names. */
export interface GraphileJob {
  /** The job's id. */
  readonly id: string;
  /** The id of the named queue; null without one. */
  readonly job_queue_id: number | null;
  /** The id of the task identifier's row. */
  readonly task_id: number;
  /** The task identifier. */
  readonly task_identifier: string;
  /** The parsed payload. */
  readonly payload: unknown;
  /** The priority: lower runs earlier. */
  readonly priority: number;
  /** The earliest time at which the job may run. */
  readonly run_at: Date;
  /** The number of attempts so far, a running one included. */
  readonly attempts: number;
  /** The number of attempts after which the job fails for good. */
  readonly max_attempts: number;
  /** The error of the last failed attempt; null without one. */
  readonly last_error: string | null;
  /** The time at which the job was added. */
  readonly created_at: Date;
  /** The job key; null without one. */
  readonly key: string | null;
  /** The number of later adds with the key of the job, whether or not they changed the job. */
  readonly revision: number;
  /** The time at which the job was locked; null when the job is not locked. */
  readonly locked_at: Date | null;
  /** The id of the worker that holds the job's lock; null when the job is not locked. */
  readonly locked_by: string | null;
  /** The flags, `{ name: true }`; null without flags. */
  readonly flags: Readonly<Record<string, true>> | null;
  /** True when the job is not locked and has attempts left. */
  readonly is_available: boolean;
}

/**
 * The job that a task in a file runs, with Graphile Worker's names and this library's. `updated_at` is not available.
 */
export type FileJob = GraphileJob & Omit<TaskJob, keyof GraphileJob | "flags">;

/** Returns the job for a task in a file. */
export function runningJob(job: TaskJob, workerId: string): FileJob {
  const fetched = job as FetchedJob;
  const columns: GraphileJob = {
    id: job.id,
    job_queue_id: fetched.queueId ?? null,
    task_id: fetched.taskId,
    task_identifier: job.taskIdentifier,
    payload: job.payload,
    priority: job.priority,
    run_at: job.runAt,
    attempts: job.attempts,
    max_attempts: job.maxAttempts,
    last_error: job.lastError,
    created_at: job.createdAt,
    key: job.key,
    revision: job.revision,
    locked_at: new Date(now() - (monotonic() - fetched.fetchedAtMs)),
    locked_by: workerId,
    flags: flagsOf(job.flags),
    is_available: false,
  };
  return inBothWords(columns, job);
}

/** A job that a task in a file has added, with Graphile Worker's names and this library's. */
export type AddedJob = GraphileJob & { readonly updated_at: Date } & Omit<Job, keyof GraphileJob>;

export function addedJob(job: Job): AddedJob {
  const columns: GraphileJob & { updated_at: Date } = {
    id: job.id,
    job_queue_id: job.queueId,
    task_id: job.taskId,
    task_identifier: job.taskIdentifier ?? "",
    payload: job.payload,
    priority: job.priority,
    run_at: job.runAt,
    attempts: job.attempts,
    max_attempts: job.maxAttempts,
    last_error: job.lastError,
    created_at: job.createdAt,
    updated_at: job.updatedAt,
    key: job.key,
    revision: job.revision,
    locked_at: job.lockedAt,
    locked_by: job.lockedBy,
    flags: job.flagsText === null ? null : JSON.parse(job.flagsText),
    is_available: job.isAvailable,
  };
  return inBothWords(columns, job);
}

function inBothWords<Columns extends object, Ours extends object>(columns: Columns, job: Ours) {
  const both = { __proto__: new Proxy(job, PASSED_ON), ...columns };
  return both as unknown as Columns & Omit<Ours, keyof Columns>;
}

const PASSED_ON: ProxyHandler<object> = {
  // The job's getters read private fields, so they must be called on the job itself.
  get: (job, name) => Reflect.get(job, name, job),
};

function flagsOf(flags: readonly string[]): GraphileJob["flags"] {
  if (flags.length === 0) return null;
  return Object.fromEntries(flags.map((flag) => [flag, true] as const));
}
