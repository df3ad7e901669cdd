// The types of incidents and of the verdict. An incident is a problem that one of the rules has found.
import type { Value } from "../../domain/value.ts";
import type { Links } from "../why/cause.ts";
import type { Fix } from "../why/fix.ts";
import type { CrashReport } from "./crashes.ts";

export const incidentKinds = [
  "no_worker",
  "stuck_queue",
  /** Jobs wait in queues that a worker without heartbeats locked at least 5 minutes and less than 4 hours ago. */
  "locked_queue",
  "error_group",
  "poison",
  "unsupported_task",
  "old_ready",
  "peak",
  "stale_worker",
  /** A queue, a task or everything is paused, or a queue or a task has a back-off. */
  "paused",
  /** Jobs have waited for a limit for more than 5 minutes. */
  "limited",
  "crash_loop",
  /** For some ticks of cron entries, no job was added. */
  "missed_ticks",
  /** A problem of the database server, or data that could not be read in time. */
  "trouble",
] as const;
export type IncidentKind = (typeof incidentKinds)[number];

export interface Incident {
  /** Identifies the incident as long as the problem is the same. */
  readonly id: string;
  readonly kind: IncidentKind;
  /** `bad`: jobs cannot run, many fail, or workers crash. `warn`: a less urgent problem, or a pause. */
  readonly level: "warn" | "bad";
  /** The subject and its problem: `Queue crm:acme is stuck`. */
  readonly title: string;
  /** The details, such as how many jobs wait and why. */
  readonly sentence: string;
  /** When the problem began, or when a coming peak begins, RFC 3339; null if unknown. */
  readonly since: string | null;
  /** The number of affected jobs. */
  readonly affected: Value;
  /** Whether the problem makes due jobs wait. */
  readonly jobsWait: boolean;
  /** The query that finds the affected jobs; null if there is none. */
  readonly q: string | null;
  readonly links: Links;
  readonly fix: Fix | null;
  /**
   * The bars of the incident's chart: numbers of jobs or crashes in parts of the last 3 hours. For a peak: numbers of
   * future jobs. Empty if there is no chart.
   */
  readonly trend: readonly number[];
  /** The report about the crashes; only for the kind `poison`: jobs that crash their workers. */
  readonly crash?: CrashReport;
}

/** A check, such as `No queue is stuck`, and its result. */
export interface IncidentCheck {
  readonly text: string;
  /** Whether the data prove that there is no problem. */
  readonly passed: boolean;
}

export interface Incidents {
  /** The headline: the worst incident and the number of other incidents, or a sentence such as `All is well`. */
  readonly verdict: string;
  readonly level: "ok" | "warn" | "bad";
  /** The incidents, worst first, at most 50. */
  readonly incidents: readonly Incident[];
  /** The number of incidents that are not listed. */
  readonly more: number;
  /** The number of incidents of the kind `error_group`, including those that are not listed. */
  readonly errorGroups: number;
  readonly checks: readonly IncidentCheck[];
  /** Whether the queue is new: it has no incident, no task and no worker alive, and no job was ever added. */
  readonly isNew: boolean;
  readonly asOf: string;
}

export const noLinks = { queue: null, worker: null, job: null };
export const timeOf = (ms: number): string => new Date(ms).toISOString();
