// Rules for error groups, crashes, a coming peak and missed ticks: pure functions from facts to incidents.

import { ageText, spanText } from "../../domain/portable/ages.ts";
import { estimatedValue, exactValue } from "../../domain/value.ts";
import { countText, isMarkedFailed, numberText, shortName } from "../../domain/words.ts";
import { type CommonFactor, commonText } from "../groups/common-factor.ts";
import { doubtOfRetry, type Groups, type JobGroup } from "../groups/group.ts";
import { crashReport, crashTrend } from "./crashes.ts";
import type { IncidentFacts } from "./facts.ts";
import { type Incident, noLinks, timeOf } from "./incident.ts";
import { crashedWithout, type PoisonJob } from "./poison-walk.ts";

const withoutJobs = { jobsWait: false, q: null, links: noLinks, fix: null, trend: [] } as const;

const MANY = 20;
const MANY_SHARE = 0.01;
const DAY_MS = 86_400_000;

/** Returns one incident for each error group, except groups whose jobs were all cancelled or all failed by a user. */
export function errorGroups({ errors, common, failedByHand, nowMs }: IncidentFacts): Incident[] {
  if (errors === null) return [];
  return errors.groups
    .filter(({ key, label }) => !isMarkedFailed(label) && !failedByHand.has(key))
    .map((group) => failingIncident(group, isMany(group, errors), common.get(group.key), nowMs));
}

/** Whether a group is large: it has at least 20 jobs, and at least 1 % of all failed jobs. */
export function isMany({ count }: JobGroup, { of }: Groups): boolean {
  return count.value >= Math.max(MANY, of.value * MANY_SHARE);
}

/** Returns the query for the failed jobs of an error group. */
export const failedOf = ({ key }: Pick<JobGroup, "key">): string => `is:failed group:${key}`;

function failingIncident(
  group: JobGroup,
  areMany: boolean,
  common: CommonFactor | undefined,
  nowMs: number,
): Incident {
  const { key, label, count, tasks, firstSeen, lastSeen, isNew, trend, example } = group;
  const [task = "A deleted task"] = tasks;
  const lead = tasks.length > 1 ? `${shortName(task)} and others fail` : `${shortName(task)} fails`;
  const lastMs = lastSeen === null ? nowMs : Date.parse(lastSeen);
  // If `firstSeen` is null, the time of at least one failure is unknown. That failure may be later than `lastSeen`.
  const known = firstSeen === null ? " known" : "";
  const last = lastSeen === null ? "" : `; last${known} failure ${ageText(nowMs - lastMs)} ago`;
  const news = isNew ? " New in the last 15 minutes." : "";
  const doubt = doubtOfRetry(label);
  return {
    id: `error_group:${key}`,
    kind: "error_group",
    level: areMany && nowMs - lastMs < DAY_MS ? "bad" : "warn",
    title: `${lead}: ${label}`,
    sentence: `${countText(count, "job")} failed${last}.${news}${example === undefined ? "" : ` Such as: ${shortName(example)}`}${commonText(common, count.value)}${doubt ?? ""}`,
    since: firstSeen,
    affected: count,
    jobsWait: false,
    q: failedOf(group),
    links: noLinks,
    fix: doubt === null ? { action: "retry", label: "Retry…", q: failedOf(group) } : null,
    trend,
  };
}

/**
 * Returns incidents about jobs that crash their workers. Jobs that lost the same attempts in the same crashes are in
 * one incident, because any of them may be the cause.
 */
export function poisonJobs(facts: IncidentFacts): Incident[] {
  const { poison, ended } = facts;
  const suspects = poison.filter(
    (job) => ![...poison, ...ended].some((other) => isBeside(job, other)),
  );
  return [...Map.groupBy(suspects, crashesOf).values()].map((jobs) => {
    const [job] = jobs as [PoisonJob];
    return jobs.length === 1 ? crashIncident(job, facts) : groupIncident(jobs, facts);
  });
}

const crashesOf = ({ id, lost, recoveredMs, recoveredFrom }: PoisonJob): string =>
  recoveredMs === null ? id : `${lost} ${recoveredMs} ${recoveredFrom}`;

function crashIncident(job: PoisonJob, facts: IncidentFacts): Incident {
  const { id, task, lost } = job;
  const beside = facts.poison.filter((other) => isBeside(other, job));
  const crash = crashReport([job], beside, facts.crashes);
  return {
    id: `poison:${id}`,
    kind: "poison",
    level: "bad",
    title: `${task === null ? "" : `${shortName(task)} `}#${id} crashes its worker`,
    sentence: `${attemptText(job, facts)} and the last ${lost === 1 ? "one crashed its" : `${numberText(lost)} crashed their`} worker.${crashedText(facts)}${besideText(beside)}`,
    since: null,
    affected: exactValue(1, "scan", facts.asOf),
    jobsWait: true,
    q: `id:${id}`,
    links: { ...noLinks, job: id },
    fix: stopRetrying([job]),
    trend: crashTrend(crash, facts.nowMs),
    crash,
  };
}

const MAX_NAMED = 6;

function groupIncident(jobs: readonly PoisonJob[], facts: IncidentFacts): Incident {
  const crash = crashReport(jobs, [], facts.crashes);
  const [{ id, lost }] = jobs as [PoisonJob];
  const names = jobs
    .slice(0, MAX_NAMED)
    .map((job) => `${job.task === null ? "" : `${shortName(job.task)} `}#${job.id}`);
  const rest = jobs.length > MAX_NAMED ? ", …" : "";
  return {
    id: `poison:${id}`,
    kind: "poison",
    level: "bad",
    title: `${countText(jobs.length, "job")} ran whenever their worker crashed`,
    sentence: `All of them lost ${lost === 1 ? "an attempt in the same crash" : `their last ${numberText(lost)} attempts in the same crashes`}. One of them, or another job that was running at the time, is the cause.${crashedText(facts)} Run them on a worker with a concurrency of 1 to find out which. ${names.join(", ")}${rest}.`,
    since: null,
    affected: exactValue(jobs.length, "scan", facts.asOf),
    jobsWait: true,
    q: `id:${jobs.map((job) => job.id).join(",")}`,
    links: noLinks,
    fix: stopRetrying(jobs),
    trend: crashTrend(crash, facts.nowMs),
    crash,
  };
}

function stopRetrying(jobs: readonly PoisonJob[]): Incident["fix"] {
  const jobIds = jobs.filter((job) => job.attempts < job.maxAttempts).map(({ id }) => id);
  return jobIds.length === 0 ? null : { action: "stop-retrying", label: "Stop retrying…", jobIds };
}

/**
 * Whether `other` may have caused all crashes in which `job` lost attempts. `other` must have lost more attempts than
 * `job`. If `other` has failed, the same number of lost attempts is enough: if `job` were the cause, the number of
 * `job` would be larger, because `job` would lose further attempts after the failure of `other`.
 */
const isBeside = (job: PoisonJob, other: PoisonJob): boolean =>
  (other.hasFailed ? other.lost >= job.lost : other.lost > job.lost) &&
  !job.apartFrom.has(other.id) &&
  !crashedWithout(job, other) &&
  job.recoveredMs !== null &&
  other.recoveredMs !== null &&
  job.recoveredMs >= other.createdMs;

function attemptText(job: PoisonJob, { coverage, nowMs }: IncidentFacts): string {
  const { attempts, maxAttempts, isRunning, runAtMs, task } = job;
  const number = numberText(isRunning ? attempts : attempts + 1);
  const attempt = `Attempt ${number} of ${numberText(maxAttempts)}`;
  if (isRunning) return `${attempt} runs now,`;
  const workers = coverage.isComplete ? (coverage.listed.get(task ?? "") ?? 0) : 0;
  const where = workers > 1 ? ` on any of ${numberText(workers)} workers` : "";
  return runAtMs > nowMs
    ? `${attempt} is due in ${ageText(runAtMs - nowMs)}${where},`
    : `${attempt} is due${where},`;
}

function crashedText({ crashes, nowMs }: IncidentFacts): string {
  if (crashes.length < 2) return "";
  const firstMs = Math.min(...crashes.map(({ atMs }) => atMs));
  return ` ${numberText(crashes.length)} workers crashed in the last ${ageText(nowMs - firstMs)}.`;
}

const MAX_BESIDE = 3;

function besideText(beside: readonly PoisonJob[]): string {
  if (beside.length === 0) return "";
  const lost = beside
    .toSorted((a, b) => b.lost - a.lost)
    .slice(0, MAX_BESIDE)
    .map((other) => `${numberText(other.lost)} by #${other.id}`);
  const rest = beside.length > MAX_BESIDE ? ", …" : "";
  return ` ${countText(beside.length, "other job", "other jobs")} lost fewer attempts in crashes: ${lost.join(", ")}${rest}.`;
}

const PEAK_FACTOR = 10;
const MIN_PEAK = 1_000;

/**
 * Returns an incident if a future bucket of the horizon has at least 1,000 scheduled jobs, and over ten times the
 * median rate of the other future buckets with jobs. Rates are compared instead of numbers, because later buckets are
 * wider. The last bucket has no end, so it is ignored.
 */
export function peakAhead({ horizon, asOf }: IncidentFacts): Incident[] {
  if (horizon === null) return [];
  const { edges, series, error } = horizon;
  const first = edges.indexOf(0);
  const ahead = series.scheduled.slice(first);
  const rates = ahead
    .slice(0, -1)
    .map((count, n) => count / ((edges[first + n + 1] ?? 0) - (edges[first + n] ?? 0)));
  const large = rates.map((rate, n) => ((ahead[n] ?? 0) < MIN_PEAK ? 0 : rate));
  const densest = Math.max(0, ...large);
  const place = large.indexOf(densest);
  const others = rates.filter((rate, n) => rate > 0 && n !== place).toSorted((a, b) => a - b);
  const usual = others[Math.floor(others.length / 2)] ?? 0;
  if (densest === 0 || densest <= PEAK_FACTOR * usual) return [];
  const highest = ahead[place] ?? 0;
  const bucket = first + place;
  const [from = 0, to = 0] = [edges[bucket], edges[bucket + 1]];
  const margin = error[bucket] ?? 0;
  const affected =
    margin === 0
      ? exactValue(highest, "probe", asOf)
      : estimatedValue(highest, margin, "sample", asOf);
  const startMs = Date.parse(horizon.now) + from * 1_000;
  const span = `${spanText(from * 1_000)} to ${spanText(to * 1_000)}`;
  return [
    {
      // The edges of the bucket move with time, so the id contains only the hour of the start.
      id: `peak:${timeOf(startMs).slice(0, 13)}`,
      kind: "peak",
      level: "warn",
      title: "A peak is ahead",
      sentence: `${countText(affected, "job is", "jobs are")} due in ${span}: over ten times the usual rate.`,
      since: timeOf(startMs),
      affected,
      jobsWait: false,
      q: `is:scheduled due>=+${Math.floor(from)}s due<+${Math.ceil(to)}s`,
      links: noLinks,
      fix: null,
      trend: ahead,
    },
  ];
}

const MANY_CRASHES = 3;
const CRASHES_MS = 10 * 60_000;

/** Returns an incident if 3 or more workers crashed in the last 10 minutes, and no job seems to crash its workers. */
export function crashLoop({ crashes, poison, nowMs, asOf }: IncidentFacts): Incident[] {
  const recent = crashes.filter(({ atMs }) => nowMs - atMs < CRASHES_MS);
  if (recent.length < MANY_CRASHES || poison.length > 0) return [];
  const firstMs = Math.min(...recent.map(({ atMs }) => atMs));
  return [
    {
      id: "crash_loop",
      kind: "crash_loop",
      level: "bad",
      title: `${numberText(recent.length)} workers crashed within ${ageText(nowMs - firstMs)}`,
      sentence: "They stopped without finishing their jobs, which have been recovered.",
      since: timeOf(firstMs),
      affected: exactValue(0, "heartbeat", asOf),
      ...withoutJobs,
    },
  ];
}

const MAX_NAMED_ENTRIES = 5;

/** Returns one incident about all cron entries that have missed ticks. */
export function missedTicks({ missed, nowMs, asOf }: IncidentFacts): Incident[] {
  const [first, second] = missed;
  if (first === undefined) return [];
  const names = missed.slice(0, MAX_NAMED_ENTRIES).map(({ identifier }) => shortName(identifier));
  const rest = missed.length > MAX_NAMED_ENTRIES ? ", …" : "";
  const since = `the first was due ${ageText(nowMs - first.sinceMs)} ago`;
  const entries = `${numberText(missed.length)} cron entries have`;
  const [have, their, named] =
    second === undefined
      ? [`${names[0]} has`, "its", ""]
      : [entries, "their", `: ${names.join(", ")}${rest}`];
  // For an entry in code, "No live worker adds its jobs" would be untrue: a live worker has the entry, and adds the
  // jobs of later ticks.
  const adds = missed.some(({ source }) => source === "code") ? "worker added" : "live worker adds";
  return [
    {
      id: "missed_ticks",
      kind: "missed_ticks",
      level: "warn",
      title: `${have} missed ticks`,
      sentence: `No ${adds} ${their} jobs; ${since}${named}.`,
      since: timeOf(first.sinceMs),
      affected: exactValue(0, "catalog", asOf),
      ...withoutJobs,
    },
  ];
}
