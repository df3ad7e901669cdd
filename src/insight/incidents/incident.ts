// What needs a person: one thing that stands still, is lost, or will be, with how far it reaches and the
// verb that mends it.
import type { Value } from "../../domain/value.ts";
import type { Links } from "../why/cause.ts";
import type { Verb } from "../why/verb.ts";
import type { CrashReport } from "./crashes.ts";

export const incidentKinds = [
  "no_worker",
  "stuck_queue",
  "error_group",
  "poison",
  "unsupported_task",
  "old_ready",
  "peak",
  "silent_worker",
  "crash_loop",
  /** The database, or what we know of it. */
  "trouble",
] as const;
export type IncidentKind = (typeof incidentKinds)[number];

export interface Incident {
  /** The same as long as it is the same thing. */
  readonly id: string;
  readonly kind: IncidentKind;
  /** `bad`: work stands still or is lost; `warn`: it will. */
  readonly level: "warn" | "bad";
  /** Who does what: `crm:acme is stuck`. */
  readonly title: string;
  /** How many jobs, and why. */
  readonly sentence: string;
  /** RFC 3339. */
  readonly since: string | null;
  /** How many jobs it reaches. */
  readonly blast: Value;
  /** They stand still because of it; else they have failed, or lie ahead. */
  readonly standsStill: boolean;
  /** The query that finds them; null: there is none. */
  readonly q: string | null;
  readonly links: Links;
  readonly verb: Verb | null;
  /** Jobs over the last 3 hours, the oldest first; empty: not known. */
  readonly trend: readonly number[];
  /** Of jobs that crash their workers. */
  readonly crash?: CrashReport;
}

/** What was looked at. */
export interface IncidentCheck {
  readonly text: string;
  /** There is evidence that it holds; false: it does not, or nothing is known of it. */
  readonly holds: boolean;
}

export interface Incidents {
  /** The title of the worst incident, and how many more there are. */
  readonly verdict: string;
  readonly level: "ok" | "warn" | "bad";
  /** The worst first. */
  readonly incidents: readonly Incident[];
  /** How many more there are than are listed. */
  readonly more: number;
  /** How many error groups are among all incidents. */
  readonly errorGroups: number;
  readonly checks: readonly IncidentCheck[];
  readonly asOf: string;
}
