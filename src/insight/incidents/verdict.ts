// Runs every rule on the facts, sorts the incidents, and makes the verdict and the checks.
import { cappedValue, exactValue, type Value } from "../../domain/value.ts";
import { countText } from "../../domain/words.ts";
import { MAX_ERROR_GROUPS, NEW_MS } from "../groups/group.ts";
import type { IncidentFacts } from "./facts.ts";
import type { Incident, IncidentCheck, Incidents } from "./incident.ts";
import { crashLoop, errorGroups, missedTicks, peakAhead, poisonJobs } from "./rules-of-failing.ts";
import {
  fullLimits,
  noWorker,
  oldReady,
  pausedWork,
  staleWorkers,
  stuckQueues,
  unsupportedTasks,
} from "./rules-of-waiting.ts";
import { trouble } from "./server-trouble.ts";

const rules: readonly ((facts: IncidentFacts) => Incident[])[] = [
  noWorker,
  stuckQueues,
  errorGroups,
  poisonJobs,
  unsupportedTasks,
  oldReady,
  pausedWork,
  fullLimits,
  peakAhead,
  staleWorkers,
  crashLoop,
  missedTicks,
  trouble,
];

const MAX_INCIDENTS = 50;

export function judge(facts: IncidentFacts): Incidents {
  const all = rules.flatMap((rule) => rule(facts)).sort(worstFirst(facts.nowMs));
  const isBad = all.some(({ level }) => level === "bad");
  const checks = checksOf(facts, new Set(all.map(({ kind }) => kind)));
  const isProven = checks.every(({ passed }) => passed) && facts.unread.length === 0;
  return {
    verdict: verdictOf(all, isProven, facts),
    level: isBad ? "bad" : all.length > 0 ? "warn" : "ok",
    incidents: all.slice(0, MAX_INCIDENTS),
    more: Math.max(0, all.length - MAX_INCIDENTS),
    errorGroups: all.filter(({ kind }) => kind === "error_group").length,
    checks,
    isNew: all.length === 0 && facts.isUnused && facts.coverage.alive === 0,
    asOf: facts.asOf,
  };
}

function worstFirst(nowMs: number): (a: Incident, b: Incident) => number {
  const badness = ({ kind, level, jobsWait, since }: Incident) =>
    (kind === "no_worker" ? 8 : 0) +
    (level === "bad" ? 4 : 0) +
    (jobsWait ? 2 : 0) +
    (kind === "error_group" && since !== null && nowMs - Date.parse(since) < NEW_MS ? 1 : 0);
  return (a, b) =>
    badness(b) - badness(a) || b.affected.value - a.affected.value || (a.id < b.id ? -1 : 1);
}

function verdictOf(
  [worst, ...others]: readonly Incident[],
  isProven: boolean,
  { errors, hasWorkers, coverage }: IncidentFacts,
): string {
  if (worst === undefined) {
    if (isProven) return "All is well";
    return hasWorkers && coverage.alive === 0 ? NO_HEARTBEATS : "No issues found";
  }
  if (others.length === 0) return headlineOf(worst);
  const least = errors?.groups.length === MAX_ERROR_GROUPS ? "at least " : "";
  return `${headlineOf(worst)}, and ${least}${countText(others.length, "more issue")}`;
}

const NO_HEARTBEATS = "No worker sends heartbeats";

/**
 * Returns the number of failed jobs in error groups or, if larger, on the horizon, which includes jobs without an
 * error. An estimate of the horizon becomes the lower bound 1.
 */
function failedJobs({ errors, horizon, asOf }: IncidentFacts): Value {
  const inGroups = errors?.of ?? exactValue(0, "scan", asOf);
  const drawn = horizon?.series.failed.reduce((sum, count) => sum + count, 0) ?? 0;
  if (drawn <= inGroups.value) return inGroups;
  return horizon?.basis === "scan"
    ? exactValue(drawn, "scan", asOf)
    : cappedValue(1, "sample", asOf);
}

/** Returns the title. For an error group, the number of jobs replaces the error: `charge_card fails: 8,400 jobs`. */
function headlineOf({ kind, title, affected }: Incident): string {
  const failing = kind === "error_group" ? /^(.*? fails?): /s.exec(title)?.[1] : undefined;
  return failing === undefined ? title : `${failing}: ${countText(affected, "job")}`;
}

/** A check passes only if data prove that there is no problem. `found`: the kinds of the incidents. */
function checksOf(facts: IncidentFacts, found: ReadonlySet<string>): IncidentCheck[] {
  const { coverage, unread, errors, lockedJobs, hasWorkers, stale } = facts;
  const hasWorker = hasWorkers && coverage.alive > 0;
  const isDueRead = !unread.includes("due jobs");
  const check = (text: string, kind: string, isRead: boolean): IncidentCheck => ({
    text,
    passed: isRead && !found.has(kind),
  });
  const areLocksRead = isDueRead && !unread.includes("locked queues");
  const workers = hasWorker ? "Every worker responds" : NO_HEARTBEATS;
  // Jobs that cause no incident are counted, too: jobs without an error, and jobs that a user failed.
  const failed = failedJobs(facts);
  const areNone = failed.value === 0;
  const failures = areNone
    ? "No jobs have failed"
    : countText(failed, "job has failed", "jobs have failed");
  return [
    check("No queue is stuck", "stuck_queue", areLocksRead && !found.has("locked_queue")),
    check(failures, "error_group", errors !== null && areNone),
    check(workers, "stale_worker", hasWorker && stale.length === 0),
    check("No job crashes its worker", "poison", lockedJobs !== null),
    check("Every task has a worker", "unsupported_task", hasWorker && coverage.isComplete),
    check("No ready job is overdue by 5 minutes", "old_ready", isDueRead),
  ];
}
