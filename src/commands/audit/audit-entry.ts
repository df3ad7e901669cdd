// An entry of the audit trail: the user, the action, the jobs before and after it, the time and the source. Never a
// payload, never a secret.
import type { JobState } from "../../domain/job.ts";

/** One write by the admin or the command line. */
export interface AuditEntry {
  /** RFC 3339. */
  readonly at: string;
  /** The user that logged in; on the command line the system user; null without a login. */
  readonly by: string | null;
  readonly source: "admin" | "command line";
  /** The client's address, or the host of the command line. */
  readonly client: string | null;
  /** The HTTP request's id. */
  readonly request: string | null;
  /** The command, or an action on an operation: `operation.pause`. */
  readonly action: string;
  readonly query: string | null;
  readonly ids: readonly string[] | null;
  readonly key: string | null;
  readonly workers: readonly string[] | null;
  readonly operationId: string | null;
  /** The fields that the action sets, with their values. */
  readonly changes: Readonly<Record<string, unknown>>;
  /** The first few jobs; null if the action is not on single jobs. */
  readonly before: readonly JobFacts[] | null;
  readonly after: readonly JobFacts[] | null;
  readonly asked: number | null;
  readonly done: number | null;
  /** The result, as a sentence. */
  readonly message: string;
}

/** The user and the source of an action. */
export type Origin = Pick<AuditEntry, "by" | "source">;

/** A job in the audit trail; jobs missing from `after` no longer exist. */
export interface JobFacts {
  readonly id: string;
  readonly state: JobState;
  readonly run_at: string;
  readonly priority: number;
  readonly attempts: number;
  readonly max_attempts: number;
}

/** Called after each write is done. May take its time; its errors are logged. */
export type OnAudit = (entry: AuditEntry) => void | Promise<void>;
