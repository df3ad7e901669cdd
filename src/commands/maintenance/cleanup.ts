// Deletes failed jobs, and names of tasks and queues without jobs.
import * as v from "valibot";
import { InputError } from "../../base/errors.ts";
import { didYouMean, strict, validate } from "../../base/validate.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import {
  assertNoTransaction,
  openTransactionsEnd,
} from "../../database/inspect/open-transactions.ts";
import { changeUnrefused, type RefusedRow } from "../../database/refused-rows.ts";
import { hasLimits, hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { boundedText } from "../../domain/job-spec.ts";
import { countText } from "../../domain/words.ts";
import { isOfNoWorker } from "../../insight/read/count-unused.ts";
import { releaseUnusedQueues } from "../../queue/limits/managed-queues.ts";
import { contendedQuery } from "../../queue/sql/contended-query.ts";
import type { NameColumn } from "../../queue/sql/names.ts";
import {
  type LostName,
  NAMES,
  putBackNames,
  recoverLostQueues,
} from "../../queue/tidy/lost-names.ts";
import { deleteOldThrottles } from "../../queue/tidy/old-throttles.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { absentOnly, choice, list } from "../declare/field.ts";
import { assertNoneRefused, deleteFailedJobs } from "./delete-failed-jobs.ts";
import { maintenanceAction } from "./maintenance-action.ts";

/** Graphile Worker's three cleanup tasks, in execution order. */
export const cleanupTasks = [
  "delete-permanently-failed-jobs",
  "gc-task-identifiers",
  "gc-job-queues",
] as const;
/**
 * What cleanup() deletes: failed jobs, task identifiers without jobs, or named queues without jobs. Graphile
 * Worker's DELETE_PERMAFAILED_JOBS, GC_TASK_IDENTIFIERS and GC_JOB_QUEUES.
 */
export type CleanupTask = (typeof cleanupTasks)[number];

/** What cleanup() has deleted. */
export interface CleanupResult {
  /** The number of deleted failed jobs; null when they were not to be deleted. */
  readonly deletedJobs: number | null;
  /** The number of deleted task identifiers; null when they were not to be deleted. */
  readonly deletedTaskIdentifiers: number | null;
  /** The number of deleted queues; null when they were not to be deleted. */
  readonly deletedQueues: number | null;
}

const CHUNK = 10_000;
/** How long to wait for older transactions after deleting names, in milliseconds. */
const OLDER_TRANSACTIONS_MS = 10_000;

const optionsSchema = strict({
  taskIdentifiersToKeep: v.optional(
    v.array(boundedText(0, 128), "must be a list of task identifiers"),
    [],
  ),
});

/** Options of cleanup(). */
export interface CleanupOptions {
  /**
   * Task identifiers that "gc-task-identifiers" keeps although they have no jobs, as in Graphile Worker.
   * Default: none.
   */
  readonly taskIdentifiersToKeep?: readonly string[] | undefined;
}

/**
 * Runs the named tasks, by default all three, always in the order of `cleanupTasks`; an empty list runs none. Jobs and
 * names are deleted in steps of 10,000, each its own statement. "gc-task-identifiers" keeps the tasks that running
 * workers report in their heartbeats (all tasks if a worker has more than the 1,000 that it can report), and
 * `taskIdentifiersToKeep`. A transaction that is open during a step may have read a name, and later commit a job with
 * its id. So each step waits up to 10 s for older transactions, and then restores the names that jobs refer to, or all
 * names if such a transaction is still open. "gc-job-queues" also restores the rows of queues that a Graphile worker's
 * cleanup deleted while jobs referred to them. Every call with a task also deletes throttles whose period is over. Throws
 * InputError for an unknown task or invalid names, and `configuration` if names are to be deleted inside the caller's
 * transaction; after everything else is deleted, `database_error` if PostgreSQL refuses to delete a failed job or a name.
 */
export async function cleanup(
  db: Database,
  tasks: readonly CleanupTask[] = cleanupTasks,
  options: CleanupOptions = {},
): Promise<CleanupResult> {
  const requested = new Set(checkedTasks(tasks));
  const { taskIdentifiersToKeep } = validate(optionsSchema, options);
  if (requested.has("gc-task-identifiers") || requested.has("gc-job-queues")) {
    await assertNoTransaction(db, "deleting unused names");
  }
  if (requested.size > 0) await deleteOldThrottles(db);
  const run = async (task: CleanupTask, work: () => Promise<number>) =>
    requested.has(task) ? await work() : null;
  const refused: Refusals = { job: [], identifier: [], queue_name: [] };
  const result = {
    deletedJobs: await run("delete-permanently-failed-jobs", () => {
      return deleteFailedJobs(db, refused.job);
    }),
    deletedTaskIdentifiers: await run("gc-task-identifiers", async () => {
      const isUnused = isUnusedTask(await hasWorkerTable(db));
      return deleteNames(db, { column: "identifier", isUnused }, [taskIdentifiersToKeep], refused);
    }),
    deletedQueues: await run("gc-job-queues", async () => {
      if (await hasLimits(db)) await releaseUnusedQueues(db, CHUNK);
      const deleted = await deleteNames(db, UNUSED_QUEUES, [], refused);
      await recoverLostQueues(db);
      return deleted;
    }),
  };
  assertNoneRefused(refused.job, ["failed job", "job"]);
  assertNoneRefused(refused.identifier, ["unused task identifier", "the task with id"]);
  assertNoneRefused(refused.queue_name, ["unused queue", "the queue with id"]);
  return result;
}

function checkedTasks(tasks: readonly CleanupTask[]): readonly CleanupTask[] {
  if (!Array.isArray(tasks)) throw new InputError([{ path: "tasks", message: "must be a list" }]);
  const unknown = tasks.flatMap((task, index) => {
    if (cleanupTasks.includes(task)) return [];
    const hint = didYouMean(String(task), cleanupTasks);
    const message = `unknown cleanup task${hint}; there are ${cleanupTasks.join(", ")}`;
    return [{ path: `tasks[${index}]`, message }];
  });
  if (unknown.length > 0) throw new InputError(unknown);
  return tasks;
}

type Refusals = Record<"job" | NameColumn, RefusedRow[]>;

/** Names to delete. */
interface UnusedNames {
  readonly column: NameColumn;
  /** Returns a condition on `names`, beside that they have no jobs. It may have the parameter $3. */
  isUnused(s: string): string;
}

/** Deletes names in steps, by ascending id. Returns the number of names that remain deleted. */
async function deleteNames(
  db: Database,
  unused: UnusedNames,
  values: readonly unknown[],
  refused: Refusals,
): Promise<number> {
  let deleted = 0;
  let last: number | undefined = 0;
  while (last !== undefined) {
    const step: Step = await deleteStep(db, unused, [last, CHUNK, ...values]);
    const { names } = step;
    refused[unused.column].push(...step.refused);
    if (names.length + step.refused.length === 0) break;
    let haveEnded = false;
    try {
      haveEnded = await openTransactionsEnd(db, OLDER_TRANSACTIONS_MS);
    } finally {
      const back = await putBackNames(db, unused.column, names, { all: !haveEnded });
      deleted += names.length - back;
    }
    // If a transaction outlasts the wait, this is the last step.
    last = haveEnded ? step.last : undefined;
  }
  return deleted;
}

interface Step {
  readonly names: readonly LostName[];
  readonly refused: readonly RefusedRow[];
  /** The last id of a full step; undefined if there are no further names. */
  readonly last: number | undefined;
}

/** Deletes the first unused names; if PostgreSQL refuses some, all others. */
async function deleteStep(db: Database, unused: UnusedNames, values: unknown[]): Promise<Step> {
  const lastOf = (ids: readonly number[]) => (ids.length === CHUNK ? ids.at(-1) : undefined);
  const those = ofStep(unused);
  try {
    const names = await contendedQuery<LostName>(db, deleteSql(unused, those), values);
    return { names, refused: [], last: lastOf(names.map(({ id }) => id)) };
  } catch (error) {
    if (!isRefusedResult(error)) throw error;
  }
  const rows = await query<{ id: number }>(db, those, values);
  const ids = rows.map(({ id }) => id);
  const names: LostName[] = [];
  const { refused } = await changeUnrefused(db, ids.map(String), async (some) => {
    const given = [some.map(Number), null, ...values.slice(2)];
    const deleted = await contendedQuery<LostName>(db, deleteSql(unused, ofIds(unused)), given);
    names.push(...deleted);
    return deleted.length;
  });
  return { names, refused, last: lastOf(ids) };
}

const unusedSql =
  ({ column, isUnused }: UnusedNames, where: string): Statement =>
  (s) => {
    const { table, reference } = NAMES[column];
    return `
    select names.id
    from ${s}.${table} as names
    where ${where}
    and not exists (
      select from ${s}._private_jobs as jobs where jobs.${reference} = names.id
    )
    and ${isUnused(s)}
    order by names.id
    limit $2::int`;
  };

/** $1 int: the preceding id; $2 int: the limit. */
const ofStep = (unused: UnusedNames) => unusedSql(unused, "names.id > $1::int");

/** $1 int[]: the ids; $2: null. */
const ofIds = (unused: UnusedNames) => unusedSql(unused, "names.id = any($1::int[])");

const deleteSql =
  ({ column, isUnused }: UnusedNames, those: Statement): Statement =>
  (s) =>
    `
  with unused as materialized (${those(s)}
  ), deleted as (
    delete from ${s}.${NAMES[column].table} as names
    using unused
    where names.id = unused.id and ${isUnused(s)}
    returning names.id, names.${column} as name
  )
  select id, name from deleted order by id`;

const isUnusedTask = (heartbeats: boolean) => (s: string) => {
  const isKept = "names.identifier <> all($3::text[])";
  return heartbeats ? `${isKept} and ${isOfNoWorker(s, "names")}` : isKept;
};

const UNUSED_QUEUES: UnusedNames = {
  column: "queue_name",
  isUnused: () => "names.locked_at is null",
};

export const cleanupCommand = defineCommand({
  name: "cleanup",
  aliases: [],
  summary: "Delete failed jobs, unused task identifiers and unused queues",
  title: "Cleanup: delete failed jobs, unused tasks and queues",
  verb: "Clean up",
  consequence: "Permanently failed jobs and names without jobs are deleted.",
  weight: "heavy",
  danger: "destroys",
  http: maintenanceAction("cleanup"),
  positionals: [],
  fields: {
    // null is rejected: if it was sent by mistake, it would delete every failed job.
    cleanup_tasks: absentOnly(
      list(
        ["Tasks", "what to clean up; an empty list does nothing"],
        choice(["Task", "one of the three tasks"], cleanupTasks),
        10,
      ),
      {
        option: "task",
        optionAliases: ["tasks"],
        shellAbout: "what to clean up",
        isAllWhenAbsent: true,
        default: "all three",
      },
    ),
  },
  dialog: "upkeep",
  examples: ["worker cleanup --task gc-job-queues", "worker cleanup --all --yes"],
  answer: {
    deleted_jobs: "integer?",
    deleted_task_identifiers: "integer?",
    deleted_queues: "integer?",
  },
  run: (db, { cleanup_tasks: tasks }) => cleanup(db, tasks),
  sentence: (result) => {
    const parts = [
      partOf(result.deletedJobs, "failed job"),
      partOf(result.deletedTaskIdentifiers, "task identifier"),
      partOf(result.deletedQueues, "queue"),
    ].filter((part) => part !== null);
    return parts.length === 0
      ? "No cleanup task was given, so nothing was done"
      : `Deleted ${parts.join(", ")}`;
  },
  members: (result) =>
    jsonOf({
      deleted_jobs: result.deletedJobs,
      deleted_task_identifiers: result.deletedTaskIdentifiers,
      deleted_queues: result.deletedQueues,
    }),
});

function partOf(count: number | null, one: string): string | null {
  return count === null ? null : countText(count, one);
}
