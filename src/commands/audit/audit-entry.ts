// An entry of the audit trail. It contains no payload of a job and no secret.
import type { JobState } from "../../domain/job.ts";

/** A change made through the admin or the command line. */
export interface AuditEntry {
  /** The time of the change, RFC 3339. */
  readonly at: string;
  /** The user's name; `anonymous` if the admin needs no login; null for a user of the command line without a name. */
  readonly by: string | null;
  /** Where the change was made. */
  readonly source: "admin" | "command line";
  /** The client's address, or the host of the command line; null if unknown. */
  readonly client: string | null;
  /** The id of the HTTP request; null on the command line. */
  readonly request: string | null;
  /** The name of the command, or `operation.pause`, `operation.resume`, `operation.stop` or `operation.undo`. */
  readonly action: string;
  /** The query of an operation; null for other actions. */
  readonly query: string | null;
  /**
   * The ids of the jobs to change. For `add`, `remove` and `schedule-run`: the id of the added or removed job, or an
   * empty list if there is no such job. null for other actions.
   */
  readonly ids: readonly string[] | null;
  /** The job key given to `add` or `remove`; null if there is none. */
  readonly key: string | null;
  /** The ids of the workers to unlock or to sweep; null for other actions. */
  readonly workers: readonly string[] | null;
  /** The id of the operation; null if there is none. */
  readonly operationId: string | null;
  /** The other input of the action by name, such as `priority`, without payloads. */
  readonly changes: Readonly<Record<string, unknown>>;
  /** The first 20 jobs as they were before the change; null if the action names no jobs by id or key. */
  readonly before: readonly JobFacts[] | null;
  /**
   * The same jobs after the change, except jobs that no longer exist. After an add: the added job. null if `ids` and
   * `key` are null, or if the jobs could not be read.
   */
  readonly after: readonly JobFacts[] | null;
  /** The number of jobs or workers for which the action was requested; null if unknown or not applicable. */
  readonly requested: number | null;
  /** The number of jobs or workers that were changed; null if unknown or not applicable. */
  readonly done: number | null;
  /** The result as a sentence. */
  readonly message: string;
}

/** The user and the source of an action. */
export type Origin = Pick<AuditEntry, "by" | "source">;

/** A job in the audit trail. */
export interface JobFacts {
  /** The job's id. */
  readonly id: string;
  /** The job's state. */
  readonly state: JobState;
  /** The job's earliest time to run, RFC 3339 with microseconds. */
  readonly runAt: string;
  /** The job's priority: lower runs earlier. */
  readonly priority: number;
  /** The number of attempts so far. */
  readonly attempts: number;
  /** The number of attempts after which the job fails for good. */
  readonly maxAttempts: number;
}

/**
 * A function that an admin calls after each change made through this admin. The response waits for the function. Errors
 * of the function are logged.
 */
export type OnAudit = (entry: AuditEntry) => void | Promise<void>;
