// A job as all layers above the database use it, and its JSON on the wire.

/**
 * Every job has exactly one state, the first that applies: locked_at set; attempts used up; run_at in the
 * future; else ready.
 */
export const jobStates = ["locked", "failed", "scheduled", "ready"] as const;
/** A job's state: locked by a worker, out of attempts, waiting for its time, or waiting for a worker. */
export type JobState = (typeof jobStates)[number];

/** One row of the queue. Ids are strings: they are PostgreSQL bigints. */
export interface Job {
  readonly id: string;
  readonly taskId: number;
  /** null if the task's row was deleted. */
  readonly taskIdentifier: string | null;
  readonly queueId: number | null;
  readonly queueName: string | null;
  /** The payload's exact JSON text, as stored. */
  readonly payloadText: string;
  /** The payload, parsed on first access. Integers beyond 2^53 are exact only in `payloadText`. */
  readonly payload: unknown;
  readonly priority: number;
  readonly runAt: Date;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /**
   * The same times as RFC 3339 text with microseconds, which a Date cuts off: for comparisons, and to pass
   * back as `runAt` exactly.
   */
  readonly runAtText: string;
  readonly createdAtText: string;
  readonly updatedAtText: string;
  readonly lockedAtText: string | null;
  readonly key: string | null;
  readonly lockedAt: Date | null;
  readonly lockedBy: string | null;
  readonly revision: number;
  /** The flags' JSON text (`{"name": true}`), as stored. */
  readonly flagsText: string | null;
  /** Neither locked nor failed. Its `runAt` may be in the future. */
  readonly isAvailable: boolean;
  readonly state: JobState;
}

/** The contract's `ListedJob`, with payload and flags byte for byte. `more` maps further names to JSON texts. */
export function listedJobJson(job: Job, more: Record<string, string> = {}): string {
  return listedJobTexts(job, more).join("");
}

/** Like listedJobJson(), but in pieces, so that a large payload is copied only once. */
export function listedJobTexts(job: Job, more: Record<string, string> = {}): string[] {
  const { task_identifier, queue_name, is_available, state, ...rest } = fields(job);
  return object({ ...rest, task_identifier, queue_name, is_available, state, ...more });
}

/** The contract's job inside a `JobActionResult`. */
export function actedJobJson(job: Job): string {
  const { queue_name: _, is_available: __, state: ___, ...rest } = fields(job);
  return object({ ...rest, task_id: String(job.taskId), job_queue_id: String(job.queueId) }).join(
    "",
  );
}

/** Maps names to JSON texts. Written by hand because payload and flags must not be parsed. */
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
