// What an operation would do, before it does anything: how many jobs, of which tasks and queues, what
// is left alone, a few of them to look at. Each number says how well it is known (count-matches.ts).
import { randomBytes } from "node:crypto";
import type { Database } from "../../../database/database.ts";
import { exact, noMoreThan, type Value } from "../../../domain/value.ts";
import type { SampleOptions } from "../../../insight/stats/count-query.ts";
import { readNames } from "../../../insight/stats/queue-rows.ts";
import { isDeletion, keptBytes } from "../../before-images/job-change.ts";
import type { Changes } from "../../declare/job-action.ts";
import { changeOf, checkedChanges, type OperationAction } from "../model/action.ts";
import { MOST_ROWS, type Rehearsal } from "../model/operation.ts";
import type { RehearsalTools } from "../model/operation-tools.ts";
import { countMatches } from "./count-matches.ts";
import type { CountOf } from "./match-counts.ts";
import { readTimes, type Times } from "./read-times.ts";
import { readBoundary, readSamples, type SampleJob } from "./samples.ts";

export interface RehearsalReport {
  readonly rehearsal: Rehearsal;
  /** Jobs that match, also those that are left alone. */
  readonly count: Value;
  /** Of them those that will be changed, and those that run now. */
  readonly change: Value;
  readonly skipLocked: Value;
  readonly byTask: readonly Share[];
  readonly byQueue: readonly Share[];
  readonly samples: readonly SampleJob[];
  /** The first and the last time that the jobs would have, where that is known. */
  readonly times: Times | null;
  readonly unknown: readonly string[];
  /** What the database will keep for the undo, of how many jobs: of more than a million the first. */
  readonly undoBytes: number;
  readonly undoJobs: number;
  readonly etaS: number;
}

export interface Share {
  /** null: without a queue. */
  readonly name: string | null;
  readonly count: Value;
}

// Whoever waits in a browser has the rough number at once; the exact one is a question of its own.
const USUAL_WALK_MS = 250;

export interface AskedRehearsal {
  readonly query: string;
  readonly action: OperationAction;
  readonly changes: object;
  /** Most jobs to change, those of the lowest ids; null: all that match. */
  readonly limit?: number | null;
  /** How long to look for what a sample hardly meets, milliseconds. Default 250. */
  readonly walkMs?: number;
  /** Somebody may begin it. Default: true. */
  readonly isKept?: boolean;
  /** For tests. */
  readonly sample?: SampleOptions;
}

/**
 * Throws InputError for a query or changes that are refused. Where there is no store, the rehearsal cannot be
 * started: it is repeated once there is one.
 */
export async function rehearse(
  tools: RehearsalTools,
  asked: AskedRehearsal,
): Promise<RehearsalReport> {
  const { store, reads } = tools;
  const { action, walkMs = USUAL_WALK_MS, limit = null } = asked;
  const changes = checkedChanges(action, asked.changes as Changes);
  const boundary = await readBoundary(reads);
  const jobs = await tools.compile(asked.query);
  const act = changeOf(action, changes);
  const { maxId } = boundary;
  const counts = await countMatches(tools, { jobs, maxId, walkMs, sample: asked.sample });
  const { count } = counts;
  const none = exact(0, count.basis, count.as_of);
  const [free, skipLocked] = act.mayRun === true ? [count, none] : [counts.free, counts.locked];
  const change = limit === null ? free : noMoreThan(free, limit);
  const [byTask, byQueue] = await Promise.all([
    sharesOf(reads, "task", counts.byTask),
    sharesOf(reads, "queue", counts.byQueue),
  ]);
  const id = randomBytes(16).toString("base64url");
  // Compiled again while it runs: a word that is a key now must not become a text to look for.
  const { explicit: query, nowUs } = jobs;
  const kept = { id, query, nowUs, action, changes, boundary, matched: count, expected: change };
  const undoJobs = store === null ? 0 : Math.min(change.value, MOST_ROWS);
  const times = await readTimes(reads, act, jobs, maxId, change);
  const samples = await readSamples(tools, jobs, maxId, walkMs / 2);
  if (asked.isKept !== false) await store?.keep(kept);
  return {
    ...{ rehearsal: kept, count, change, skipLocked, byTask, byQueue, samples, times },
    unknown: jobs.unknown,
    undoJobs,
    undoBytes: Math.round(undoJobs * keptBytes(act, counts)),
    etaS: Math.ceil(change.value / (isDeletion(act) ? DELETED_PER_S : CHANGED_PER_S)),
  };
}

// Jobs a second with half of the time left to others, as measured.
const DELETED_PER_S = 30_000;
const CHANGED_PER_S = 8_000;

/** Under their names; what has no name any more has its number. */
async function sharesOf(
  db: Database,
  kind: "task" | "queue",
  counts: readonly CountOf[],
): Promise<Share[]> {
  const names = await readNames(
    db,
    kind,
    counts.flatMap(({ id }) => id ?? []),
  );
  return counts.map(({ id, count }) => ({
    name: id === null ? null : (names.get(id) ?? `#${id}`),
    count,
  }));
}
