// An incident: a problem that blocks or loses jobs, or soon will, with the number of affected jobs and the action that
// fixes it.
import type { Value } from "../../domain/value.ts";
import type { Links } from "../why/cause.ts";
import type { Fix } from "../why/fix.ts";
import type { CrashReport } from "./crashes.ts";

export const incidentKinds = [
  "no_worker",
  "stuck_queue",
  /** A worker without heartbeats has locked a queue for long, and may still run. */
  "locked_queue",
  "error_group",
  "poison",
  "unsupported_task",
  "old_ready",
  "peak",
  "stale_worker",
  /** A queue, a task or everything is paused. */
  "paused",
  /** Jobs have waited for a limit for more than 5 minutes. */
  "limited",
  "crash_loop",
  /** No jobs are added for the ticks of cron entries. */
  "missed_ticks",
  /** A problem of the database, or missing data about it. */
  "trouble",
] as const;
export type IncidentKind = (typeof incidentKinds)[number];

export interface Incident {
  /** Identifies the incident as long as the problem is the same. */
  readonly id: string;
  readonly kind: IncidentKind;
  /** `bad`: jobs are blocked or lost; `warn`: they may be, or wait on purpose, as in a pause. */
  readonly level: "warn" | "bad";
  /** The subject and its problem: `crm:acme is stuck`. */
  readonly title: string;
  /** The number of jobs, and the reason, as a sentence. */
  readonly sentence: string;
  /** When the problem began, RFC 3339; null if unknown. */
  readonly since: string | null;
  /** The number of affected jobs. */
  readonly affected: Value;
  /** Whether the affected jobs wait because of the problem; otherwise they have failed, or are due in the future. */
  readonly jobsWait: boolean;
  /** The query that finds the affected jobs; null if there is none. */
  readonly q: string | null;
  readonly links: Links;
  readonly fix: Fix | null;
  /** The numbers of jobs or crashes in the last 3 hours, or of jobs in future buckets for a peak; empty if unknown. */
  readonly trend: readonly number[];
  /** The report about crashes, for jobs that crash their workers. */
  readonly crash?: CrashReport;
}

/** The result of a check. */
export interface IncidentCheck {
  readonly text: string;
  /** Whether there is evidence that there is no problem. False if there is a problem, or may be one. */
  readonly passed: boolean;
}

export interface Incidents {
  /** The title of the worst incident, and the number of others. */
  readonly verdict: string;
  readonly level: "ok" | "warn" | "bad";
  /** The incidents, worst first. */
  readonly incidents: readonly Incident[];
  /** The number of incidents that are not listed. */
  readonly more: number;
  /** The number of error groups among all incidents. */
  readonly errorGroups: number;
  readonly checks: readonly IncidentCheck[];
  /** Whether nothing shows that a job was ever added or a worker started. */
  readonly isNew: boolean;
  readonly asOf: string;
}

export const noLinks = { queue: null, worker: null, job: null };
export const timeOf = (ms: number): string => new Date(ms).toISOString();
