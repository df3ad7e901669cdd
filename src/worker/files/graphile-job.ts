// A job in Graphile Worker's words, for tasks that were written for it. The same object has ours, too,
// by its prototype, which a copy and JSON leave out.
import { monotonic, now } from "../../base/clock.ts";
import type { Job } from "../../domain/job.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import type { TaskJob } from "../task/task-job.ts";

/** A job's row as Graphile Worker names its columns. */
export interface GraphileJob {
  readonly id: string;
  readonly job_queue_id: number | null;
  readonly task_id: number;
  readonly task_identifier: string;
  readonly payload: unknown;
  readonly priority: number;
  readonly run_at: Date;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly key: string | null;
  readonly revision: number;
  readonly locked_at: Date | null;
  readonly locked_by: string | null;
  readonly flags: Readonly<Record<string, true>> | null;
  readonly is_available: boolean;
}

/** The job that a task runs, in both libraries' words; `updated_at` is not fetched. */
export type FileJob = GraphileJob & Omit<TaskJob, keyof GraphileJob | "flags">;

/** `workerId`: who runs it. */
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

/** A job that was added, in both libraries' words. */
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

/** What the columns do not name is asked of the job. */
function inBothWords<Columns extends object, Ours extends object>(columns: Columns, job: Ours) {
  const both = { __proto__: new Proxy(job, PASSED_ON), ...columns };
  return both as unknown as Columns & Omit<Ours, keyof Columns>;
}

const PASSED_ON: ProxyHandler<object> = {
  // Without the receiver: the job's getters read private fields of its own.
  get: (job, name) => Reflect.get(job, name, job),
};

function flagsOf(flags: readonly string[]): GraphileJob["flags"] {
  if (flags.length === 0) return null;
  return Object.fromEntries(flags.map((flag) => [flag, true] as const));
}
