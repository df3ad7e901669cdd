// How many jobs an operation is about: counted where that is cheap (a small table, a few ids, an index
// that leads to a few), else estimated from a sample, and where the sample hardly meets any, walked for a
// while. Nothing is locked, and no statement is long.
import type { Database } from "../../../database/database.ts";
import { usableIndexes } from "../../../database/schema/indexes/usable-indexes.ts";
import type { JobQuery } from "../../query/job-query.ts";
import { timeText } from "../../sql/moments.ts";
import { type SampleOptions, SMALL_TABLE_PAGES } from "../../stats/count-query.ts";
import { readGauge } from "../../stats/gauge.ts";
import { isFew } from "../../walk/id-walk.ts";
import { hasFewPriorities } from "../../walk/index-walk.ts";
import { matchingOf } from "../../walk/matching.ts";
import { type JobSort, type Segment, segmentsOf } from "../../walk/order.ts";
import { walk } from "../../walk/walk.ts";
import type { OperationTools } from "../model/operation-tools.ts";
import { readCandidates } from "./candidates.ts";
import {
  countedAs,
  estimatedFrom,
  type MatchCounts,
  noTally,
  sizesOf,
  sumOf,
  type Tally,
} from "./match-counts.ts";
import { sampleMatches, tallyIds, tallyRange } from "./read-matches.ts";

export interface Asked {
  readonly jobs: JobQuery;
  /** Higher ids are not meant. */
  readonly maxId: string;
  /** How long to look one by one, milliseconds. */
  readonly walkMs: number;
  /** For tests. */
  readonly sample?: SampleOptions | undefined;
}

// Fewer in the sample say too little.
const ENOUGH_HITS = 30;
// An index leads to so many within the time.
const MOST_BY_INDEX = 10_000;
// A range of ids that is worth a look before the sample.
const NARROW = 200_000n;
const FIRST_SPAN = 25_000;
const WANTED_MS = 50;

export async function countMatches(
  tools: Pick<OperationTools, "reads" | "monotonic">,
  asked: Asked,
): Promise<MatchCounts> {
  const { reads } = tools;
  const { jobs, maxId, walkMs } = asked;
  const { smallPages = SMALL_TABLE_PAGES } = asked.sample ?? {};
  const gauge = await readGauge(reads);
  const asOf = timeText(gauge.nowMs * 1_000);
  if (jobs.isEmpty) return countedAs(noTally, asOf);
  const isSmall = gauge.pages <= smallPages;
  if (isSmall && jobs.check === null) {
    return countedAs(await tallyRange(reads, jobs, "0", maxId), asOf);
  }
  let walked: Tally = noTally;
  if (isSmall || isNarrow(jobs, maxId)) {
    const all = await walkedThrough(tools, jobs, maxId, walkMs);
    if (all.isWhole) return countedAs(all.tally, asOf);
    walked = all.tally;
  }
  const sample = await sampleMatches(reads, jobs, gauge, maxId, asked.sample);
  const isRare = sample.places.length < ENOUGH_HITS;
  const mayRun = jobs.shape.conditions?.includes("running") ?? true;
  const estimate = () => {
    const { payloadBytes, errorBytes } = sizesOf(walked);
    const rows = sample.places.length;
    const checked = { payloadBytes: payloadBytes * rows, errorBytes: errorBytes * rows };
    return estimatedFrom(
      jobs.check === null ? sample : { ...sample, ...checked },
      walked,
      mayRun,
      asOf,
    );
  };
  const rough = estimate();
  if (jobs.cost === "cheap" && rough.count.value <= MOST_BY_INDEX) {
    const ids = await idsByIndex(reads, jobs, walkMs);
    const meant = ids?.filter((id) => BigInt(id) <= BigInt(maxId)) ?? null;
    if (meant !== null) return countedAs(await tallyIds(reads, meant), asOf);
  }
  if (!isRare && jobs.check === null) return rough;
  const all = await walkedThrough(tools, jobs, maxId, walkMs);
  if (all.isWhole) return countedAs(all.tally, asOf);
  walked = all.tally;
  return estimate();
}

/** An id, a key. */
const hasFew = (jobs: JobQuery) => isFew(matchingOf(jobs));

function isNarrow(jobs: JobQuery, maxId: string): boolean {
  const { shape } = jobs;
  if (hasFew(jobs)) return true;
  const last = lesser(BigInt(shape.maxId ?? maxId), BigInt(maxId));
  return last - BigInt(shape.minId ?? "1") < NARROW;
}

interface WalkedThrough {
  readonly tally: Tally;
  /** These are all. */
  readonly isWhole: boolean;
}

/** Ascending by id for a while. */
async function walkedThrough(
  { reads, monotonic }: Pick<OperationTools, "reads" | "monotonic">,
  jobs: JobQuery,
  maxId: string,
  walkMs: number,
): Promise<WalkedThrough> {
  const { shape } = jobs;
  const until = monotonic() + walkMs;
  let tally = noTally;
  const last = lesser(BigInt(shape.maxId ?? maxId), BigInt(maxId));
  let after = shape.minId === null ? 0n : BigInt(shape.minId) - 1n;
  // An index leads to a few, wherever they are.
  let span = hasFew(jobs) ? Number.MAX_SAFE_INTEGER : FIRST_SPAN;
  while (after < last) {
    if (monotonic() > until) return { tally, isWhole: false };
    const began = monotonic();
    let upto = lesser(after + BigInt(Math.round(span)), last);
    if (jobs.check === null) {
      tally = sumOf(tally, await tallyRange(reads, jobs, String(after), String(upto)));
    } else {
      const candidates = await readCandidates(reads, jobs, String(after), String(upto));
      tally = sumOf(tally, candidates.tally);
      upto = BigInt(candidates.uptoId);
    }
    after = upto;
    span *= Math.min(8, Math.max(1 / 8, WANTED_MS / Math.max(monotonic() - began, 1)));
  }
  return { tally, isWhole: true };
}

/** All of them where an index has them in some order and they are few; else null. */
async function idsByIndex(
  db: Database,
  jobs: JobQuery,
  budgetMs: number,
): Promise<readonly string[] | null> {
  const segments = await indexedSegments(db, jobs);
  if (segments === null) return null;
  const { found, next } = await walk({
    ...{ db, matching: matchingOf(jobs), segments, place: null, skip: 0, size: 0, budgetMs },
    limit: MOST_BY_INDEX + 1,
  });
  return next === null && found.length <= MOST_BY_INDEX ? found.map(({ id }) => id) : null;
}

async function indexedSegments(
  db: Database,
  { shape }: JobQuery,
): Promise<readonly Segment[] | null> {
  const facts = {
    hasFewPriorities: await hasFewPriorities(db),
    indexes: await usableIndexes(db),
  };
  const orders: readonly JobSort[] = ["due", "-failed_at", "running"];
  const ways = orders.map((sort) => segmentsOf(sort, shape, facts));
  return ways.find((segments) => segments.every(({ way }) => way.kind === "index")) ?? null;
}

const lesser = (a: bigint, b: bigint) => (a < b ? a : b);
