// Rehearses an operation: counts the jobs that the operation would change or skip, and reads a few matching jobs as
// samples. A count may be an estimate, so it is a Value with a precision.
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
  /** The number of matching jobs, including skipped jobs. */
  readonly count: Value;
  /** The number of jobs that would be changed, at most the limit. */
  readonly change: Value;
  /** The number of jobs that are not changed because they are locked; 0 if the action also changes locked jobs. */
  readonly skipLocked: Value;
  readonly byTask: readonly Share[];
  readonly byQueue: readonly Share[];
  readonly samples: readonly SampleJob[];
  /** The earliest and the latest new run_at of the jobs (see readTimes()). */
  readonly times: Times | null;
  readonly unknown: readonly string[];
  /** The estimated size of the undo data, in bytes. */
  readonly undoBytes: number;
  /** The expected number of jobs in the undo data; 0 if `tools.store` is null. */
  readonly undoJobs: number;
  readonly etaS: number;
}

export interface Share {
  /** The name of the task or queue; null: the jobs without a queue. */
  readonly name: string | null;
  readonly count: Value;
}

// Short, so that the page's preview appears soon.
const USUAL_WALK_MS = 250;

export interface RehearsalRequest {
  readonly query: string;
  readonly action: OperationAction;
  readonly changes: object;
  /** The maximum number of jobs to change, lowest ids first; null: all that match. */
  readonly limit?: number | null;
  /** How long a walk may count matching jobs, in milliseconds (see MatchRequest). Default 250. */
  readonly walkMs?: number;
  /** Whether the rehearsal is stored, so that the operation can be started. Default true. */
  readonly isStored?: boolean;
  /** Options of the sample, for tests. */
  readonly sample?: SampleOptions;
}

/**
 * Rehearses an operation. Throws InputError for an invalid query or invalid changes. If `tools.store` is null, the
 * operation cannot be started.
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
  // The operation compiles the stored query again. In the typed query, a word that is now the key of a job would be a
  // search for a text once the job is gone. In the explicit query, each word has a fixed meaning.
  const { explicit: query, nowUs } = jobs;
  // Throws if the explicit query exceeds the limits of a query.
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

/** Adds `-term` to the query, because the action leaves out the jobs that match `term`. */
function removeTerm(text: string, term: string | undefined): string {
  const tree = term === undefined ? null : parseQuery(text);
  if (tree === null) return text;
  const required = tree.kind === "and" ? tree.items : [tree];
  if (required.some((item) => printQuery(item) === `-${term}`)) return text;
  return tree.kind === "or" ? `(${text}) -${term}` : `${text} -${term}`;
}

// Measured for an operation that pauses half of the time.
const DELETED_PER_S = 30_000;
const CHANGED_PER_S = 8_000;

/** Returns the counts with the names of the tasks or queues; a deleted task or queue has a name such as `#12`. */
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
