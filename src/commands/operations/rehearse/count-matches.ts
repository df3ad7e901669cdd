// Counts the jobs that match the query of a rehearsal. Counting each match is cheap if the table or the range of
// possible ids is small, if the query names ids or a key, or if an index finds the matches. Otherwise, the number is
// estimated from a sample. If the sample has few matches, or if this process checks the texts of jobs (the `check` of
// the query), a walk in the order of ids also counts matches, for a limited time.
import type { Database } from "../../../database/database.ts";
import { usableIndexes } from "../../../database/schema/indexes/usable-indexes.ts";
import { type Condition, lockedConditions } from "../../../domain/condition.ts";
import type { JobQuery } from "../../../insight/query/job-query.ts";
import { readPriorities } from "../../../insight/read/priorities.ts";
import { type SampleOptions, SMALL_TABLE_PAGES } from "../../../insight/stats/count-query.ts";
import { readGauge } from "../../../insight/stats/gauge.ts";
import { isFew } from "../../../insight/walk/id-walk.ts";
import { matchingOf } from "../../../insight/walk/matching.ts";
import { type JobSort, type Segment, segmentsOf } from "../../../insight/walk/order.ts";
import { walk } from "../../../insight/walk/walk.ts";
import { timeText } from "../../../queue/sql/moments.ts";
import type { OperationTools } from "../model/operation-tools.ts";
import { readCandidates } from "./candidates.ts";
import {
  countedAs,
  estimatedFrom,
  type MatchCounts,
  type MatchSample,
  type MatchTally,
  noTally,
  sizesOf,
  sumOf,
} from "./match-counts.ts";
import { idsByTime, sampleMatches, tallyIds, tallyRange } from "./read-matches.ts";

export interface MatchRequest {
  readonly jobs: JobQuery;
  /** The highest id to include. */
  readonly maxId: string;
  /** How long a walk may take, in milliseconds (see also NARROW_FACTOR). */
  readonly walkMs: number;
  /** Options of the sample, for tests. */
  readonly sample?: SampleOptions | undefined;
}

type Tools = Pick<OperationTools, "reads" | "monotonic">;

// A sample with this many matches suffices for an estimate.
const ENOUGH_HITS = 30;
const MAX_BY_INDEX = 10_000;
// A range of fewer than NARROW ids is walked before a sample is read. This walk often gives an exact number, so it may
// take NARROW_FACTOR times as long as a later walk.
const NARROW = 200_000n;
const NARROW_FACTOR = 4;
const FIRST_SPAN = 25_000;
const WANTED_MS = 50;

export async function countMatches(tools: Tools, request: MatchRequest): Promise<MatchCounts> {
  const { reads } = tools;
  const { jobs } = request;
  const gauge = await readGauge(reads);
  const asOf = timeText(gauge.nowMs * 1_000);
  const { smallPages = SMALL_TABLE_PAGES } = request.sample ?? {};
  const counted = await countedWhereCheap(tools, request, gauge.pages <= smallPages);
  if (counted !== null) return countedAs(counted, asOf);
  const sample = await sampleMatches(reads, jobs, gauge, request.maxId, request.sample);
  const isEnough = sample.places.length >= ENOUGH_HITS;
  const { first, last } = idsOf(request);
  const bounds = { walked: noTally, most: Number(last - first + 1n), mayRun: mayRun(jobs), asOf };
  // If this process checks the texts, the sample has no sizes of payloads and errors. So a walk reads some sizes.
  if (isEnough && jobs.check === null) return estimatedFrom(sample, bounds);
  const { tally, isWhole } = await walkedThrough(tools, request);
  if (isWhole) return countedAs(tally, asOf);
  const sized = jobs.check === null ? sample : sizedBy(sample, tally);
  return estimatedFrom(sized, { ...bounds, walked: tally });
}

/** Returns the range of ids that can match. If no id can match, `last` is the id before `first`. */
function idsOf({ jobs: { shape }, maxId }: MatchRequest): { first: bigint; last: bigint } {
  const first = BigInt(shape.minId ?? "1");
  const most = BigInt(maxId);
  const last = shape.maxId === null ? most : lesser(BigInt(shape.maxId), most);
  return { first, last: last < first ? first - 1n : last };
}

/** Returns the tally of all matches; null if counting them is not cheap, or takes too long. */
async function countedWhereCheap(
  tools: Tools,
  matchRequest: MatchRequest,
  isSmall: boolean,
): Promise<MatchTally | null> {
  const { reads } = tools;
  const { jobs, maxId, walkMs } = matchRequest;
  if (jobs.isEmpty) return noTally;
  if (isSmall && jobs.check === null) return tallyRange(reads, jobs, "0", maxId);
  if (isSmall || isNarrow(matchRequest)) {
    const longer = { ...matchRequest, walkMs: walkMs * NARROW_FACTOR };
    const { tally, isWhole } = await walkedThrough(tools, longer);
    if (isWhole) return tally;
  }
  if (jobs.cost !== "cheap") return null;
  const ids = await idsByIndex(reads, jobs, walkMs);
  if (ids === null) return null;
  return tallyIds(
    reads,
    ids.filter((id) => BigInt(id) <= BigInt(maxId)),
  );
}

function sizedBy(sample: MatchSample, tally: MatchTally): MatchSample {
  const { payloadBytes, errorBytes } = sizesOf(tally);
  const rows = sample.places.length;
  return { ...sample, payloadBytes: payloadBytes * rows, errorBytes: errorBytes * rows };
}

/** Whether a locked job can match. */
function mayRun({ shape: { isDue, conditions } }: JobQuery): boolean {
  return (
    isDue === null &&
    (conditions === null ||
      conditions.some((one) => lockedConditions.some((locked) => locked === one)))
  );
}

const hasFew = (jobs: JobQuery) => isFew(matchingOf(jobs));

function isNarrow(matchRequest: MatchRequest): boolean {
  const { first, last } = idsOf(matchRequest);
  return hasFew(matchRequest.jobs) || last - first < NARROW;
}

interface WalkTally {
  readonly tally: MatchTally;
  readonly isWhole: boolean;
}

/** Tallies the matches in ascending order of ids, until `walkMs` have passed. */
async function walkedThrough(
  { reads, monotonic }: Tools,
  matchRequest: MatchRequest,
): Promise<WalkTally> {
  const { jobs, walkMs } = matchRequest;
  const until = monotonic() + walkMs;
  let tally = noTally;
  const { first, last } = idsOf(matchRequest);
  let after = first - 1n;
  // If the query names ids or a key, an index finds the few jobs that can match, in a range of any size.
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

/** Returns the ids of all matches; null if no index finds them in time, or if there are more than MAX_BY_INDEX. */
async function idsByIndex(
  db: Database,
  jobs: JobQuery,
  budgetMs: number,
): Promise<readonly string[] | null> {
  const { isDue, conditions } = jobs.shape;
  const isWaiting = isDue !== null || conditions?.every((one) => waiting.includes(one)) === true;
  if (isWaiting) {
    if ((await readPriorities(db)) === null) return null;
    const ids = await idsByTime(db, jobs, MAX_BY_INDEX + 1);
    return ids.length <= MAX_BY_INDEX ? ids : null;
  }
  const segments = await orderedByIndex(db, jobs);
  if (segments === null) return null;
  const { found, next } = await walk({
    ...{ db, matching: matchingOf(jobs), segments, place: null, skip: 0, size: 0, budgetMs },
    limit: MAX_BY_INDEX + 1,
  });
  return next === null && found.length <= MAX_BY_INDEX ? found.map(({ id }) => id) : null;
}

const waiting: readonly Condition[] = ["ready", "scheduled", "retrying"];

/** Returns how to read all matches through the optional index `failed` or `running`; null if neither can be used. */
async function orderedByIndex(
  db: Database,
  { shape }: JobQuery,
): Promise<readonly Segment[] | null> {
  const facts = { priorities: null, indexes: await usableIndexes(db) };
  const orders: readonly JobSort[] = ["-failed_at", "running"];
  const ways = orders.map((sort) => segmentsOf(sort, shape, facts));
  return ways.find((segments) => segments.every(({ way }) => way.kind === "index")) ?? null;
}

const lesser = (a: bigint, b: bigint) => (a < b ? a : b);
