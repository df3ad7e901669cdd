// What an operation would do, before it does anything: how many jobs, of which tasks and queues, what
// is left alone, a few of them to look at. A small table is counted, of a large one a sample is; what
// the sample hardly meets is walked for a while. Nothing is locked, and no statement is long.
import { randomBytes } from "node:crypto";
import { capped, estimated, exact, type Value } from "../../../domain/value.ts";
import type { JobQuery } from "../../query/job-query.ts";
import {
  type Act,
  actOf,
  type Changes,
  checkedChanges,
  type OperationAction,
} from "../model/action.ts";
import { MOST_ROWS, type Rehearsal } from "../model/operation.ts";
import type { OperationTools } from "../model/operation-tools.ts";
import { readCandidates } from "./candidates.ts";
import { countRange, countSample, type MatchCounts, noMatches } from "./match-counts.ts";
import { namesOf, readBoundary, readPages, readSamples, type SampleJob } from "./samples.ts";

export interface RehearsalReport {
  readonly rehearsal: Rehearsal;
  /** Jobs that match, also those that are left alone. */
  readonly count: Value;
  readonly change: number;
  readonly skipLocked: number;
  readonly byTask: readonly Share[];
  readonly byQueue: readonly Share[];
  readonly samples: readonly SampleJob[];
  readonly unknown: readonly string[];
  /** What the database will keep for the undo, of how many jobs: of more than a million the first. */
  readonly undoBytes: number;
  readonly undoJobs: number;
  readonly etaS: number;
}

export interface Share {
  /** null: without a queue. */
  readonly name: string | null;
  readonly count: number;
}

const MOST_SHARES = 10;
// About 220,000 small rows: a pass over all of them takes 60 ms.
const SMALL_PAGES = 4_096;
const SAMPLED_PAGES = 2_000;
// Fewer in the sample say too little.
const ENOUGH_HITS = 30;
// Whoever waits in a browser has the rough number at once; the exact one is a question of its own.
const USUAL_WALK_MS = 250;
const FIRST_SPAN = 25_000;
const WANTED_MS = 50;

export interface AskedRehearsal {
  readonly query: string;
  readonly action: OperationAction;
  readonly changes: object;
  /** How long to look for what a sample hardly meets, milliseconds. Default 250. */
  readonly walkMs?: number;
}

/** Throws InputError for a query or changes that are refused. */
export async function rehearse(
  tools: OperationTools,
  asked: AskedRehearsal,
): Promise<RehearsalReport> {
  const { store, reads } = tools;
  const { action, walkMs = USUAL_WALK_MS } = asked;
  const changes = checkedChanges(action, asked.changes as Changes);
  const boundary = await readBoundary(reads);
  const jobs = await tools.compile(asked.query);
  const act = actOf(action, changes);
  const { counts, count } = await counted(tools, jobs, boundary.maxId, walkMs);
  const scale = counts.rows === 0 ? 0 : count.value / counts.rows;
  const scaled = (part: number) => Math.round(part * scale);
  const skipLocked = scaled(counts.locked);
  const change = count.value - skipLocked;
  const [byTask, byQueue] = await Promise.all([
    namesOf(reads, "tasks", top(counts.byTask), scaled),
    namesOf(reads, "queues", top(counts.byQueue), scaled),
  ]);
  const id = randomBytes(16).toString("base64url");
  // Compiled again while it runs: a word that is a key now must not become a text to look for.
  const { explicit: query, nowUs } = jobs;
  // What is kept is what was shown: the operation expects as many as will change.
  const kept = { id, query, nowUs, action, changes, boundary, count: { ...count, value: change } };
  const undoJobs = store.isResumable ? Math.min(change, MOST_ROWS) : 0;
  const samples = await readSamples(tools, jobs, boundary.maxId, walkMs / 2);
  await store.keep(kept);
  return {
    ...{ rehearsal: kept, count, change, skipLocked, byTask, byQueue, samples },
    unknown: jobs.unknown,
    undoJobs,
    undoBytes: Math.round(undoJobs * undoBytesOf(act, counts)),
    etaS: Math.ceil(change / speeds[act.kind]),
  };
}

// Jobs a second with half of the time left to others, as measured.
const speeds = { delete: 30_000, fail: 8_000, reschedule: 8_000 } as const;

function undoBytesOf({ kind }: Act, { rows, payloadBytes, errorBytes }: MatchCounts): number {
  const each = (bytes: number) => (rows === 0 ? 0 : bytes / rows);
  const row = 90;
  switch (kind) {
    case "delete":
      return row + 110 + each(payloadBytes) + each(errorBytes);
    case "fail":
      return row + each(errorBytes);
    case "reschedule":
      return row;
    default:
      return kind satisfies never;
  }
}

interface Counted {
  readonly counts: MatchCounts;
  readonly count: Value;
}

async function counted(
  tools: OperationTools,
  jobs: JobQuery,
  maxId: string,
  walkMs: number,
): Promise<Counted> {
  const { reads } = tools;
  const { pages, asOf } = await readPages(reads);
  if (jobs.isEmpty) return { counts: noMatches, count: exact(0, "catalog", asOf) };
  if (jobs.check !== null) return walked(tools, jobs, { maxId, asOf, walkMs });
  if (pages <= SMALL_PAGES) {
    const counts = await countRange(reads, jobs, "0", maxId);
    return { counts, count: exact(counts.rows, "scan", asOf) };
  }
  const percent = (SAMPLED_PAGES * 100) / pages;
  const sampled = await countSample(reads, jobs, maxId, percent);
  if (sampled.rows >= ENOUGH_HITS) {
    return { counts: sampled, count: fromSample(sampled, percent, asOf) };
  }
  const walk = await walked(tools, jobs, { maxId, asOf, walkMs });
  if (walk.count.precision === "exact") return walk;
  const rough = fromSample(sampled, percent, asOf);
  const atLeast = walk.counts.rows;
  // No hit at all is not none: up to three pages' worth may have been missed, 95 times of 100.
  const margin = Math.max((rough.high ?? 0) - rough.value, (3 * 100) / percent);
  const count = estimated(Math.max(rough.value, atLeast), margin, "sample", asOf, atLeast);
  return { counts: walk.counts, count };
}

/** Rows of one page say the same, so the margin comes from how pages differ, not from rows. */
function fromSample({ rows, squares }: MatchCounts, percent: number, asOf: string): Value {
  const share = percent / 100;
  const margin = (1.96 * Math.sqrt((1 - share) * squares)) / share;
  return estimated(rows / share, margin, "sample", asOf, rows);
}

/** Ascending by id for a while; exact when that was enough. */
async function walked(
  tools: OperationTools,
  jobs: JobQuery,
  { maxId, asOf, walkMs }: { maxId: string; asOf: string; walkMs: number },
): Promise<Counted> {
  const { reads, monotonic } = tools;
  const until = monotonic() + walkMs;
  let counts = noMatches;
  let after = 0n;
  let span = FIRST_SPAN;
  const last = BigInt(maxId);
  while (after < last) {
    if (monotonic() > until) return { counts, count: capped(counts.rows, "scan", asOf) };
    const began = monotonic();
    const end = after + BigInt(Math.round(span));
    let upto = end < last ? end : last;
    if (jobs.check === null) {
      counts = counts.and(await countRange(reads, jobs, String(after), String(upto)));
    } else {
      const candidates = await readCandidates(reads, jobs, String(after), String(upto));
      counts = counts.and(candidates.counts);
      upto = BigInt(candidates.uptoId);
    }
    after = upto;
    span *= Math.min(8, Math.max(1 / 8, WANTED_MS / Math.max(monotonic() - began, 1)));
  }
  return { counts, count: exact(counts.rows, "scan", asOf) };
}

function top(counts: ReadonlyMap<number | null, number>) {
  return [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_SHARES);
}
