// Causes, incidents and the horizon on the wire, for routes and events.
import type { Horizon } from "../horizon/buckets.ts";
import type { CrashReport } from "../incidents/crashes.ts";
import type { Incident, Incidents } from "../incidents/incident.ts";
import type { Links } from "../why/cause.ts";
import type { Verb } from "../why/verb.ts";
import { idJson } from "./exact-json.ts";

export function incidentsJson(told: Incidents) {
  const { verdict, level, incidents, more, errorGroups, checks, asOf } = told;
  const counts = { more, error_groups: errorGroups };
  return { verdict, level, incidents: incidents.map(incidentJson), ...counts, checks, as_of: asOf };
}

function incidentJson({ standsStill, links, verb, crash, ...rest }: Incident) {
  return {
    ...rest,
    stands_still: standsStill,
    links: linksJson(links),
    verb: verbJson(verb),
    crash: crash === undefined ? null : crashJson(crash),
  };
}

function crashJson({ aboard, ...rest }: CrashReport) {
  return { ...rest, aboard: aboard.map((job) => ({ ...job, id: idJson(job.id) })) };
}

export function linksJson({ queue, worker, job }: Links) {
  return { queue, worker, job: idJson(job) };
}

export function verbJson(verb: Verb | null) {
  if (verb === null) return null;
  const { action, label } = verb;
  return { action, label, post: postOf(verb) };
}

function postOf(verb: Verb) {
  const { action } = verb;
  if ("workerIds" in verb) {
    return { path: "/api/maintenance", body: { action, worker_ids: verb.workerIds } };
  }
  if ("jobIds" in verb) {
    return { path: "/api/jobs/action", body: { action, ids: verb.jobIds.map(idJson) } };
  }
  // A rehearsal: it changes nothing.
  return { path: "/api/operations", body: { q: verb.q, action, dry_run: true } };
}

/** The edges are relative to its time, which also shows its age. */
export function horizonJson(horizon: Horizon) {
  return { ...horizon, as_of: horizon.now };
}
