// Rehearses an operation: finds how many jobs it would change, of which tasks and queues, how many it would skip, and a
// few samples. The numbers of jobs may be estimates (count-matches.ts), so each has a precision.
import { randomBytes } from "node:crypto";
import type { Database } from "../../../database/database.ts";
import { parseQuery } from "../../../domain/query/parse-query.ts";
import { printQuery } from "../../../domain/query/print-query.ts";
import { exactValue, limitTo, type Value } from "../../../domain/value.ts";
import type { SampleOptions } from "../../../insight/stats/count-query.ts";
import { readNames } from "../../../insight/stats/queue-rows.ts";
import { isDeletion, storedBytes } from "../../before-images/job-change.ts";
import type { Changes } from "../../declare/job-action.ts";
import { actionData, changeOf, checkedChanges, type OperationAction } from "../model/action.ts";
import { MAX_ROWS, type Rehearsal } from "../model/operation.ts";
import type { RehearsalTools } from "../model/operation-tools.ts";
import { countMatches } from "./count-matches.ts";
import type { CountOf } from "./match-counts.ts";
import { readTimes, type Times } from "./read-times.ts";
import { readBoundary, readSamples, type SampleJob } from "./samples.ts";

export interface RehearsalReport {
  readonly rehearsal: Rehearsal;
  /** The number of matching jobs, including those that are skipped. */
  readonly count: Value;
  /** The number of jobs that would be changed, at most the limit. */
  readonly change: Value;
  /**
   * The number of matching jobs that are locked, and so are not changed. A cancellation requests their end instead. The
   * number is 0 if the action also changes locked jobs.
   */
  readonly skipLocked: Value;
  readonly byTask: readonly Share[];
  readonly byQueue: readonly Share[];
  readonly samples: readonly SampleJob[];
  /** The earliest and the latest new run_at of the jobs; null as explained at readTimes(). */
  readonly times: Times | null;
  readonly unknown: readonly string[];
  /** The estimated size of the undo data, in bytes; 0 without a store. */
  readonly undoBytes: number;
  /** The expected number of jobs in the undo data, at most MAX_ROWS; 0 without a store. */
  readonly undoJobs: number;
  readonly etaS: number;
}

export interface Share {
  /** The name; null: jobs without a queue. */
  readonly name: string | null;
  readonly count: Value;
}

// The default of `walkMs`. The page uses it, so that its preview appears soon. The command line waits longer for an
// exact number.
const USUAL_WALK_MS = 250;

export interface RehearsalRequest {
  readonly query: string;
  readonly action: OperationAction;
  readonly changes: object;
  /** The maximum number of jobs to change, lowest ids first; null: all that match. */
  readonly limit?: number | null;
  /**
   * The time limit of a walk that counts, in milliseconds: see MatchRequest. The walk for samples has half that time.
   * Default 250.
   */
  readonly walkMs?: number;
  /** Whether the rehearsal is stored, so that the operation can be started. Default true. */
  readonly isStored?: boolean;
  /** Options of the sample, for tests. */
  readonly sample?: SampleOptions;
}

/**
 * Rehearses an operation. Throws InputError for an invalid query or invalid changes. Without a store the operation
 * cannot be started: the tables must be added first, and the rehearsal repeated.
 */
export async function rehearse(
  tools: RehearsalTools,
  request: RehearsalRequest,
): Promise<RehearsalReport> {
  const { store, reads } = tools;
  const { action, walkMs = USUAL_WALK_MS, limit = null } = request;
  const changes = checkedChanges(action, request.changes as Changes);
  const { leavesOut } = actionData(action);
  const boundary = await readBoundary(reads);
  const jobs = await tools.compile(removeTerm(request.query, leavesOut));
  const act = changeOf(action, changes);
  const { maxId } = boundary;
  const counts = await countMatches(tools, { jobs, maxId, walkMs, sample: request.sample });
  const { count } = counts;
  const none = exactValue(0, count.basis, count.as_of);
  const [free, skipLocked] = act.mayRun === true ? [count, none] : [counts.free, counts.locked];
  const change = limit === null ? free : limitTo(free, limit);
  const [byTask, byQueue] = await Promise.all([
    sharesOf(reads, "task", counts.byTask),
    sharesOf(reads, "queue", counts.byQueue),
  ]);
  const id = randomBytes(16).toString("base64url");
  // The operation compiles the query again while it runs. So the explicit query is stored, in which the meaning of each
  // word is fixed: a word that is a job key now is not searched for as a text later.
  const { explicit: query, nowUs } = jobs;
  // The explicit query can be longer than the typed one. If it exceeds the limits of a query, this throws InputError.
  parseQuery(query);
  const stored = { id, query, nowUs, action, changes, boundary, matched: count, expected: change };
  const undoJobs = store === null ? 0 : Math.min(change.value, MAX_ROWS);
  const times = await readTimes(reads, act, jobs, maxId, change);
  const samples = await readSamples(tools, jobs, maxId, walkMs / 2);
  if (request.isStored !== false) await store?.keep(stored);
  return {
    ...{ rehearsal: stored, count, change, skipLocked, byTask, byQueue, samples, times },
    unknown: jobs.unknown,
    undoJobs,
    undoBytes: Math.round(undoJobs * storedBytes(act, counts)),
    etaS: Math.ceil(change.value / (isDeletion(act) ? DELETED_PER_S : CHANGED_PER_S)),
  };
}

/**
 * Returns the query with an added term that excludes the jobs that the action leaves out. The preview and the receipt
 * show this term.
 */
function removeTerm(text: string, term: string | undefined): string {
  const tree = term === undefined ? null : parseQuery(text);
  if (tree === null) return text;
  const isOut = tree.kind === "and" && tree.items.some((item) => printQuery(item) === `-${term}`);
  if (isOut) return text;
  return tree.kind === "or" ? `(${text}) -${term}` : `${text} -${term}`;
}

// How many jobs an operation deletes or changes per second if it pauses half of the time, as measured.
const DELETED_PER_S = 30_000;
const CHANGED_PER_S = 8_000;

/** Returns the counts with the names of the tasks or queues. A deleted task or queue is named by its id, as `#12`. */
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
