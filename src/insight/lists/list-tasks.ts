// Lists tasks in pages, with their jobs, last errors, pauses and workers.
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { type Condition, conditions } from "../../domain/condition.ts";
import type { Value } from "../../domain/value.ts";
import { listPauses, type Pause } from "../controls/list-pauses.ts";
import { agesOf } from "../stats/name-tallies.ts";
import { inCondition } from "../stats/tally.ts";
import { type CountedNames, countOf } from "./counted-names.ts";
import { headCounts } from "./head-counts.ts";
import { knownWorkers } from "./known-workers.ts";
import { type LastError, lastErrors } from "./last-errors.ts";
import { type PageRequest, pageOf, type SortOrder } from "./list-page.ts";
import { type LiveTasks, liveTasks } from "./worker-reports.ts";

export interface ListedTask {
  readonly id: number;
  readonly identifier: string;
  readonly counts: Readonly<Record<Condition, Value>>;
  /** The earliest run_at of the task's due jobs that are not locked, in ms since 1970; null if none was found. */
  readonly oldestReadyMs: number | null;
  readonly lastFailureMs: number | null;
  /** The last error of the task's jobs; null if none was found. */
  readonly lastError: LastError | null;
  /** Whether only some jobs were read for `lastError`, so a later error may exist. */
  readonly isErrorSampled: boolean;
  /** The number of live workers that list the task in their reports. */
  readonly supportedBy: number;
  /** Whether no live worker supports the task; null if unknown. */
  readonly isUnsupported: boolean | null;
  /** The pause of the task, not of all tasks; null: not paused. */
  readonly pause: Pause | null;
}

/**
 * The orders of the list. A `-` before a condition: most jobs in this condition first. `worst`: most failed and
 * retrying jobs first; for an unsupported task, ready and blocked jobs count, too.
 */
export const taskSorts = [
  "name",
  "worst",
  "-ready",
  "-blocked",
  "-running",
  "-failed",
  "-retrying",
  "oldest",
] as const;
export type TaskSort = (typeof taskSorts)[number];

export interface TaskPage {
  readonly tasks: readonly ListedTask[];
  readonly nextCursor: string | null;
  /** The number of tasks on all pages; null: MAX_TASKS or more. */
  readonly count: number | null;
}

export async function listTasks(
  db: Database,
  request: PageRequest & { readonly sort: TaskSort; readonly search: string },
  counted: CountedNames,
): Promise<TaskPage> {
  const rows = await query<TaskRow>(db, tasksSql, [request.search]);
  const head = counted.basis === "sample" ? await headCounts(db, "task") : null;
  const tally = ({ id }: TaskRow) => counted.tallies.tasks.get(id);
  const most = (which: Parameters<typeof countOf>[1]): SortOrder<TaskRow> => ({
    key: (row) => countOf(tally(row), which),
    isDescending: true,
  });
  const ages = (row: TaskRow) => {
    const taskTally = tally(row);
    return taskTally === undefined ? null : agesOf(taskTally);
  };
  const support = await supportOf(db, counted);
  const troubled = (row: TaskRow) =>
    countOf(tally(row), support(row.identifier).isUnsupported === true ? STUCK : FAILING);
  const oldest = (row: TaskRow) => head?.oldestMs(row.id) ?? ages(row)?.oldestReady ?? null;
  const orders: Record<TaskSort, SortOrder<TaskRow>> = {
    name: { key: () => null, isDescending: false },
    worst: { key: troubled, isDescending: true },
    "-ready": most(inCondition.ready),
    "-blocked": most(inCondition.blocked),
    "-running": most(inCondition.running),
    "-failed": most(inCondition.failed),
    "-retrying": most(inCondition.retrying),
    oldest: { key: (row) => oldest(row), isDescending: false },
  };
  const page = pageOf(rows, orders[request.sort], ({ identifier }) => identifier, request);
  const isSmall = counted.basis === "scan";
  // In a small table all jobs were counted, so a task without a tally has no jobs.
  const mayHaveJobs = (row: TaskRow) => !isSmall || tally(row) !== undefined;
  const ids = page.rows.filter(mayHaveJobs).map(({ id }) => id);
  const errors = await lastErrors(db, ids, isSmall);
  const pauses = (await listPauses(db)).filter(({ scope }) => scope === "task");
  const pausedTasks = new Map(pauses.map((pause) => [pause.name, pause]));
  const tasks = page.rows.map((row) => {
    const values = conditions.map((one) => [one, counted.value(tally(row), inCondition[one])]);
    return {
      ...row,
      counts: Object.fromEntries(values) as Record<Condition, Value>,
      oldestReadyMs: oldest(row),
      lastFailureMs: ages(row)?.lastFailure ?? null,
      lastError: errors.of.get(row.id) ?? null,
      isErrorSampled: errors.areSampled,
      ...support(row.identifier),
      pause: pausedTasks.get(row.identifier) ?? null,
    };
  });
  const count = rows.length < MAX_TASKS ? rows.length : null;
  return { tasks, nextCursor: page.nextCursor, count };
}

const FAILING = [...inCondition.failed, ...inCondition.retrying];
const STUCK = [...FAILING, ...inCondition.blocked, ...inCondition.ready];

/**
 * A worker whose tasks are unknown might support any task. So if a worker may have unknown tasks, `isUnsupported` is
 * null for each task that no live worker lists.
 */
async function supportOf(db: Database, counted: CountedNames) {
  const living: LiveTasks = await liveTasks(db);
  const { workers, hasAllHolders } = await knownWorkers(db, "", counted);
  const isAnyUnknown = workers.some(({ state }) => state === "unknown");
  const isDecidable = living.areAll && living.workers.size > 0 && hasAllHolders && !isAnyUnknown;
  return (task: string): Pick<ListedTask, "supportedBy" | "isUnsupported"> => {
    const supportedBy = living.workers.get(task) ?? 0;
    return { supportedBy, isUnsupported: supportedBy > 0 ? false : isDecidable ? true : null };
  };
}

interface TaskRow {
  readonly id: number;
  readonly identifier: string;
}

const MAX_TASKS = 20_000;

const tasksSql: Statement = (s) => `
  select id, identifier from ${s}._private_tasks
  where $1::text = '' or pg_catalog.strpos(pg_catalog.lower(identifier), pg_catalog.lower($1::text)) > 0
  order by identifier limit ${MAX_TASKS}`;
