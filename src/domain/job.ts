// A job as all layers above the database use it, and the JSON of a job in the HTTP API.

/** The states of a job. */
export const jobStates = ["locked", "failed", "scheduled", "ready"] as const;
/**
 * The state of a job: the first of these that applies. `locked`: a worker holds the job's lock in `locked_by`.
 * `failed`: the job has no attempts left. `scheduled`: the job's `runAt` is in the future. `ready`: the job is due; its
 * named queue may be locked, or the job may be running in a transaction of the fast mode.
 */
export type JobState = (typeof jobStates)[number];

/** A job's row. Its id is a string, because PostgreSQL's bigints exceed what a JavaScript number holds exactly. */
export interface Job {
  /** The job's id. */
  readonly id: string;
  /** The id of the row that has the task identifier. */
  readonly taskId: number;
  /** The task identifier; null if the row `taskId` is missing. */
  readonly taskIdentifier: string | null;
  /** The id of the named queue; null without one. */
  readonly queueId: number | null;
  /** The name of the named queue; null without one, or if the row of the queue is missing. */
  readonly queueName: string | null;
  /** The payload's exact JSON text, as stored. */
  readonly payloadText: string;
  /** The payload, parsed at first use. Integers beyond 2^53 are exact in `payloadText` only. */
  readonly payload: unknown;
  /** The priority: lower runs earlier. -32,768 to 32,767. */
  readonly priority: number;
  /** The earliest time at which the job may run, cut to milliseconds; `runAtText` has the microseconds. */
  readonly runAt: Date;
  /**
   * The number of attempts so far. A running attempt counts, unless a transaction of the fast mode locks its job. If
   * the job was failed or cancelled by hand, the number is `maxAttempts`.
   */
  readonly attempts: number;
  /** The number of attempts after which the job fails for good. */
  readonly maxAttempts: number;
  /** The error of the last failed attempt, or the text set by failing, cancelling or recovering the job; null: none. */
  readonly lastError: string | null;
  /** The time at which the job was added. A debounced add replaces this time if `attempts` was above 0. */
  readonly createdAt: Date;
  /** The time of the job's last change. Some updates, such as a fetch or a snooze, do not set this time. */
  readonly updatedAt: Date;
  /** `runAt` as RFC 3339 text with microseconds. Adds accept this text as `runAt`. */
  readonly runAtText: string;
  /** `createdAt` as RFC 3339 text with microseconds. */
  readonly createdAtText: string;
  /** `updatedAt` as RFC 3339 text with microseconds. */
  readonly updatedAtText: string;
  /** `lockedAt` as RFC 3339 text with microseconds; null when the job is not locked. */
  readonly lockedAtText: string | null;
  /** The job key; null without one. */
  readonly key: string | null;
  /** The time at which the job was locked, or its lock was last renewed; null when the job is not locked. */
  readonly lockedAt: Date | null;
  /** The id of the worker that holds the job's lock; null when the job is not locked. */
  readonly lockedBy: string | null;
  /** How many later adds of a job with the same key have replaced this job or left it as it is. */
  readonly revision: number;
  /**
   * True when `revision` is above 0. In the result of addJob() and addJobs(), true means that a job with the same key
   * existed and no job was added.
   */
  readonly isDuplicate: boolean;
  /** The flags' exact JSON text, `{"name": true}`; null without flags. */
  readonly flagsText: string | null;
  /** True when the job is not locked and has attempts left, also before its `runAt`. */
  readonly isAvailable: boolean;
  /** The state of the job when it was read. */
  readonly state: JobState;
}

/** Returns a job as the JSON text of the HTTP API's `ListedJob`. `more`: JSON texts of members to add or to replace. */
export function listedJobJson(job: Job, more: Record<string, string> = {}): string {
  return listedJobTexts(job, more).join("");
}

/** Like listedJobJson(), but returns the text in pieces, so that a large payload is copied only once. */
export function listedJobTexts(job: Job, more: Record<string, string> = {}): string[] {
  const { task_identifier, queue_name, is_available, state, ...rest } = fields(job);
  return object({ ...rest, task_identifier, queue_name, is_available, state, ...more });
}

/** Returns a job as the JSON text of an object in `jobs` of the HTTP API's `JobActionResult`. */
export function changedJobJson(job: Job): string {
  const { queue_name: _, is_available: __, state: ___, ...rest } = fields(job);
  return object({ ...rest, task_id: String(job.taskId), job_queue_id: String(job.queueId) }).join(
    "",
  );
}

function fields(job: Job) {
  return {
    id: job.id,
    task_identifier: JSON.stringify(job.taskIdentifier),
    queue_name: JSON.stringify(job.queueName),
    payload: job.payloadText,
    priority: String(job.priority),
    run_at: JSON.stringify(job.runAtText),
    attempts: String(job.attempts),
    max_attempts: String(job.maxAttempts),
    last_error: JSON.stringify(job.lastError),
    created_at: JSON.stringify(job.createdAtText),
    updated_at: JSON.stringify(job.updatedAtText),
    key: JSON.stringify(job.key),
    locked_at: JSON.stringify(job.lockedAtText),
    locked_by: JSON.stringify(job.lockedBy),
    revision: String(job.revision),
    flags: job.flagsText ?? "null",
    is_available: String(job.isAvailable),
    state: JSON.stringify(job.state),
  };
}

function object(members: Record<string, string>): string[] {
  const texts = Object.entries(members).flatMap(([name, text]) => [`,"${name}":`, text]);
  return ["{", (texts[0] ?? "").slice(1), ...texts.slice(1), "}"];
}
