// Reads the horizon: all jobs that are not locked, failed jobs by the time at which they failed, all others by the
// time at which they were or will be due. In a small table, all jobs are counted. A large table is sampled, and so is
// a small table if counting its jobs takes too long. If a sampled horizon has no filter, the jobs of buckets with few
// jobs are counted exactly with an index, unless this takes too long. The index does not contain failed jobs.
import type { Database } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import type { Gauge } from "../stats/gauge.ts";
import { drawn, type Horizon, type HorizonFilter, type Series } from "./buckets.ts";
import { countAll } from "./count-all.ts";
import { timeAxis } from "./edges.ts";
import { probeBuckets } from "./probe-buckets.ts";
import { sampleBuckets } from "./sample-buckets.ts";

export async function readHorizon(
  db: Database,
  buckets: number,
  filter: HorizonFilter,
  gauge: Gauge,
  smallPages = SMALL_TABLE_PAGES,
): Promise<Horizon> {
  const { edges, firstAhead } = timeAxis(buckets);
  const timeOf = (seconds: number) => new Date(gauge.nowMs + seconds * 1_000).toISOString();
  const bounds = edges.slice(1, -1).map(timeOf);
  const input = { bounds, filter, gauge };
  const now = timeOf(0);
  const zeros = new Array<number>(buckets).fill(0);
  if (gauge.pages <= smallPages) {
    const series = await nullOnTimeout(countAll(db, input));
    const exact = zeros.map(() => true);
    if (series !== null) return { now, edges, series, error: zeros, exact, basis: "scan" };
  }
  const sampled = await sampleBuckets(db, input);
  const isWhole = filter.taskId === null && filter.queueId === null;
  const probed = (isWhole ? await nullOnTimeout(probeBuckets(db, input)) : null) ?? NOTHING_PROBED;
  const error = zeros.map((_, bucket) => {
    // No job has failed in the future.
    const ofFailed = bucket >= firstAhead ? 0 : (sampled.failedError[bucket] ?? 0);
    const ofOthers = probed.has(bucket) ? 0 : (sampled.otherError[bucket] ?? 0);
    return Math.round(Math.hypot(ofFailed, ofOthers));
  });
  const exact = error.map((_, bucket) => probed.has(bucket) && bucket >= firstAhead);
  return { now, edges, series: mergeSeries(sampled.series, probed), error, exact, basis: "sample" };
}

const NOTHING_PROBED: ReadonlyMap<number, Series> = new Map();

/** Replaces the sampled counts of the buckets in `probed`, except those of failed jobs, which the index lacks. */
function mergeSeries(sampled: Series, probed: ReadonlyMap<number, Series>): Series {
  const series = structuredClone(sampled);
  for (const [bucket, counts] of probed) {
    for (const condition of drawn) {
      if (condition !== "failed") series[condition][bucket] = counts[condition][0] ?? 0;
    }
  }
  return series;
}
