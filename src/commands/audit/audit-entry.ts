// A line of the audit trail: who did what to which jobs, when, from where, and what they were before
// and after. Never a payload, never a secret.
import type { JobState } from "../../domain/job.ts";

/** One write of admin or command line. */
export interface AuditEntry {
  /** RFC 3339. */
  readonly at: string;
  /** The login's name; on the command line the system's; null: no login is asked for. */
  readonly by: string | null;
  readonly source: "admin" | "command line";
  /** The address that it came from, or the host on which it was typed. */
  readonly client: string | null;
  /** The HTTP request's id. */
  readonly request: string | null;
  /** The command, or what was done to an operation: `operation.pause`. */
  readonly action: string;
  readonly query: string | null;
  readonly ids: readonly string[] | null;
  readonly key: string | null;
  readonly workers: readonly string[] | null;
  readonly operationId: string | null;
  /** What was to be changed, and into what. */
  readonly changes: Readonly<Record<string, unknown>>;
  /** The first few of the jobs; null where the action is not about single jobs. */
  readonly before: readonly JobFacts[] | null;
  readonly after: readonly JobFacts[] | null;
  readonly asked: number | null;
  readonly done: number | null;
  /** What came of it, as a sentence. */
  readonly message: string;
}

/** Who asks, and through what. */
export type Origin = Pick<AuditEntry, "by" | "source">;

/** What a trail says of a job; one that is missing in `after` is gone. */
export interface JobFacts {
  readonly id: string;
  readonly state: JobState;
  readonly run_at: string;
  readonly priority: number;
  readonly attempts: number;
  readonly max_attempts: number;
}

/** Told of every write, once it has been done. May take its time; what it throws is logged. */
export type OnAudit = (entry: AuditEntry) => void | Promise<void>;
