// The number of jobs in each condition and state, with its precision. A small table is read in one pass. In a large
// table, conditions with few jobs are counted in indexes. The other numbers come from a sample or from a census,
// whichever is more precise.
import { type Condition, conditions } from "../../domain/condition.ts";
import {
  cappedValue,
  exactValue,
  type Interval,
  intervalValue,
  type Value,
} from "../../domain/value.ts";
import { timeText } from "../../queue/sql/moments.ts";
import type { Gauge } from "../stats/gauge.ts";
import type { IndexedCounts } from "../stats/indexed-counts.ts";
import { agesOf } from "../stats/name-tallies.ts";
import { estimateFrom } from "../stats/page-sample.ts";
import type { Probe } from "../stats/probe.ts";
import type { JobSample } from "../stats/sample-jobs.ts";
import { inCondition, inState, sumOf, type TallyName, tallied } from "../stats/tally.ts";
import type { NameCounts } from "./name-counts.ts";

export type State = keyof typeof inState;

/**
 * The counts at `asOf`. A value that was read earlier has an earlier time in its own `as_of`. Times are RFC 3339, or
 * null if there is no such job or the time is unknown.
 */
export interface MeasuredCounts {
  readonly asOf: string;
  readonly total: Value;
  readonly conditions: Readonly<Record<Condition, Value>>;
  /** The number of retrying jobs whose next attempt is due. */
  readonly retryingDue: Value;
  /** The number of jobs in each of the four states of the HTTP API. */
  readonly states: Readonly<Record<State, Value>>;
  /** The earliest run_at of all due jobs. */
  readonly oldestDueAt: string | null;
  /** The earliest run_at of ready jobs. */
  readonly oldestReadyAt: string | null;
  /** The earliest run_at of scheduled jobs. */
  readonly nextDueAt: string | null;
  /** When the longest running job was locked. */
  readonly longestRunningAt: string | null;
  /** When the last of the failed jobs failed. */
  readonly lastFailureAt: string | null;
}

const states = Object.keys(inState) as State[];

/** Returns the counts of a table that was read whole. */
export function countsOfPass(gauge: Gauge, names: NameCounts): MeasuredCounts {
  const { all } = names.tallies;
  const value = (which: readonly TallyName[]) =>
    exactValue(sumOf(all.counts, which), "scan", names.asOf);
  const ages = agesOf(all);
  return {
    asOf: timeOf(gauge.nowMs),
    total: value(tallied),
    conditions: recordOf(conditions, (one) => value(inCondition[one])),
    retryingDue: value(["retrying_due"]),
    states: recordOf(states, (one) => value(inState[one])),
    oldestDueAt: timeOrNull(ages.oldestReady),
    oldestReadyAt: timeOrNull(ages.oldestFree),
    nextDueAt: timeOrNull(ages.nextDue),
    longestRunningAt: timeOrNull(ages.longestRunning),
    lastFailureAt: timeOrNull(ages.lastFailure),
  };
}

/** What was read from indexes. `tallies`: the exact numbers of jobs in some conditions. */
export interface Heads {
  readonly probe: Probe;
  readonly tallies: ReadonlyMap<TallyName, number>;
  readonly indexed: IndexedCounts;
}

/** A sample, and the estimates for the whole table. */
export interface TakenSample {
  readonly sample: JobSample;
  readonly asOf: string;
  /** Returns the estimated number of jobs in these conditions together. */
  readonly estimate: (which: readonly TallyName[]) => Interval;
}

/** Returns a sample with its estimates, which are cached, because many snapshots use the same sample. */
export function takenSample(sample: JobSample, pages: number, asOf: string): TakenSample {
  const kept = new Map<string, Interval>();
  const perPage = rowsPerPage(sample);
  const estimate = (which: readonly TallyName[]) => {
    const name = which.join();
    const interval = kept.get(name) ?? estimateFrom(pages, sums(sample, which), perPage);
    kept.set(name, interval);
    return interval;
  };
  return { sample, asOf, estimate };
}

/**
 * Returns the counts of a large table. `taken`: null if no sample could be read in time. `census`: the last complete
 * census. If both are null, an inexact total comes from the planner's statistics, and other inexact counts are lower
 * bounds.
 */
export function countsOfParts(
  gauge: Gauge,
  { probe, tallies, indexed }: Heads,
  taken: TakenSample | null,
  census: NameCounts | null,
): MeasuredCounts {
  const asOf = timeOf(gauge.nowMs);
  const best = (which: readonly TallyName[], atLeast = 0): Value => {
    const exactNames = which.filter((one) => tallies.has(one));
    const certain = exactNames.reduce((sum, one) => sum + (tallies.get(one) ?? 0), 0);
    const rest = which.filter((one) => !tallies.has(one));
    if (rest.length === 0) return exactValue(certain, "probe", asOf);
    const counted = census?.value(census.tallies.all, which) ?? null;
    if (counted?.precision === "exact") return counted;
    const least = Math.max(certain, atLeast);
    if (taken === null) {
      return (
        counted ??
        (which === tallied ? plannedTotal(gauge, least) : cappedValue(least, "probe", asOf))
      );
    }
    const guess = shift(taken.estimate(rest), certain);
    const sampled = intervalValue(guess, "sample", taken.asOf, least);
    const isBetter = counted !== null && counted.value >= least;
    return isBetter && widthOf(counted) < widthOf(sampled) ? counted : sampled;
  };
  const { oldestMs, oldestFreeMs, nextMs, due, ahead } = probe;
  const proven: Partial<Record<State, number>> = { ready: due, scheduled: ahead };
  const provenConditions: Partial<Record<Condition, number>> = { blocked: probe.blocked };
  const ages = census === null ? null : agesOf(census.tallies.all);
  const sampleTimes = taken?.sample ?? NOTHING_MET;
  // The census is the last choice: jobs that ran during the census may have ended.
  const { longestRunningMs = sampleTimes.longestRunningMs ?? ages?.longestRunning ?? null } =
    indexed;
  const { lastFailureMs = latest(sampleTimes.lastFailureMs, ages?.lastFailure ?? null) } = indexed;
  return {
    asOf,
    total: best(tallied, due + ahead),
    conditions: recordOf(conditions, (one) => best(inCondition[one], provenConditions[one])),
    retryingDue: best(["retrying_due"]),
    states: recordOf(states, (one) => best(inState[one], proven[one])),
    oldestDueAt: timeOrNull(oldestMs),
    oldestReadyAt: timeOrNull(oldestFreeMs),
    nextDueAt: timeOrNull(nextMs),
    longestRunningAt: timeOrNull(longestRunningMs),
    lastFailureAt: timeOrNull(lastFailureMs),
  };
}

const NOTHING_MET = { longestRunningMs: null, lastFailureMs: null } as const;

/** The factor by which the planner's statistics may be wrong. */
const PLANNED_OFF_BY = 2;
/** The assumed jobs on a page if there are no statistics. A job takes at least 85 bytes, seldom more than a page. */
const UNPLANNED = { value: 40, low: 1, high: 100 } as const;

function plannedTotal({ pages, jobsPerPage, nowMs }: Gauge, least: number): Value {
  const perPage = jobsPerPage ?? UNPLANNED.value;
  const low = jobsPerPage === null ? UNPLANNED.low : perPage / PLANNED_OFF_BY;
  // An ANALYZE during the first large insert counts 0 jobs: it does not see rows that are not yet committed.
  const high = perPage === 0 || jobsPerPage === null ? UNPLANNED.high : perPage * PLANNED_OFF_BY;
  const interval = { value: pages * perPage, low: pages * low, high: pages * high };
  return intervalValue(interval, "catalog", timeOf(nowMs), least);
}

function sums({ counts }: JobSample, which: readonly TallyName[]): readonly number[] {
  const [first = "ready", ...others] = which;
  if (others.length === 0) return counts[first];
  return counts[first].map((count, page) =>
    others.reduce((sum, one) => sum + (counts[one][page] ?? 0), count),
  );
}

function rowsPerPage(sample: JobSample): number {
  const all = sums(sample, tallied);
  return all.reduce((sum, count) => sum + count, 0) / Math.max(all.length, 1);
}

function shift({ value, low, high }: Interval, by: number): Interval {
  return { value: value + by, low: low + by, high: high + by };
}

function widthOf({ low = 0, high }: Value): number {
  return (high ?? Number.POSITIVE_INFINITY) - low;
}

function recordOf<K extends string, V>(keys: readonly K[], value: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<K, V>;
}

function latest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

/** Returns RFC 3339 text for milliseconds since 1970; `infinity` becomes the latest possible time. */
export function timeOf(ms: number): string {
  return timeText(ms * 1_000);
}

export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : timeOf(ms);
}
