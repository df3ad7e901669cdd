// Deletes failed jobs, and the names of tasks and queues that have no jobs.
import * as v from "valibot";
import { InputError } from "../../base/errors.ts";
import { didYouMean, strict, validate } from "../../base/validate.ts";
import type { Database } from "../../database/database.ts";
import { assertNoTransaction } from "../../database/inspect/open-transactions.ts";
import { hasLimits, hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { boundedText } from "../../domain/job-spec.ts";
import { countText } from "../../domain/words.ts";
import { isOfNoWorker } from "../../insight/read/count-unused.ts";
import { releaseUnusedQueues } from "../../queue/limits/managed-queues.ts";
import { recoverLostQueues } from "../../queue/tidy/lost-names.ts";
import { deleteOldThrottles } from "../../queue/tidy/old-throttles.ts";
import { type Committed, defineCommand, jsonOf } from "../declare/command.ts";
import { absentOnly, choice, list } from "../declare/field.ts";
import { assertNoneRefused, deleteFailedJobs } from "./delete-failed-jobs.ts";
import {
  type CleanupRefusals,
  deleteNames,
  NAMES_AT_ONCE,
  type NamesToDelete,
} from "./delete-names.ts";
import { maintenanceAction } from "./maintenance-action.ts";

/** Graphile Worker's cleanup tasks, in execution order. */
export const cleanupTasks = [
  "delete-permanently-failed-jobs",
  "gc-task-identifiers",
  "gc-job-queues",
] as const;
/**
 * What cleanup() deletes: failed jobs, task identifiers without jobs, or named queues without jobs. In Graphile Worker
 * these tasks are DELETE_PERMAFAILED_JOBS, GC_TASK_IDENTIFIERS and GC_JOB_QUEUES.
 */
export type CleanupTask = (typeof cleanupTasks)[number];

/** What cleanup() has deleted. */
export interface CleanupResult {
  /** The number of deleted failed jobs; null if not requested. */
  readonly deletedJobs: number | null;
  /** The number of deleted task identifiers; null if not requested. */
  readonly deletedTaskIdentifiers: number | null;
  /** The number of deleted queues; null if not requested. */
  readonly deletedQueues: number | null;
}

const optionsSchema = strict({
  taskIdentifiersToKeep: v.optional(
    v.array(boundedText(0, 128), "must be a list of task identifiers"),
    [],
  ),
});

/** Options of cleanup(). */
export interface CleanupOptions {
  /** Task identifiers that "gc-task-identifiers" keeps although they have no jobs. Default: none. */
  readonly taskIdentifiersToKeep?: readonly string[] | undefined;
}

/**
 * Runs the given cleanup tasks, by default all three, always in the order of `cleanupTasks`; an empty list runs none.
 * "gc-task-identifiers" also keeps the identifiers that workers report in their heartbeats. If the report of a worker
 * is incomplete, for example because the worker has more than 1,000 tasks, all identifiers are kept. Names that jobs of
 * open transactions use are restored (deleteNames()). If jobs refer to queues whose rows are missing, "gc-job-queues"
 * creates rows with new names.
 *
 * A call with at least one cleanup task also deletes throttles whose period is over. Throws InputError for an unknown
 * task or invalid options, and `configuration` if names would be deleted in a transaction of the caller. Throws
 * `database_error` at the end if PostgreSQL has refused to delete rows.
 */
export async function cleanup(
  db: Database,
  tasks: readonly CleanupTask[] = cleanupTasks,
  options: CleanupOptions = {},
): Promise<CleanupResult> {
  return cleanUp(db, tasks, options, () => {});
}

/** Like cleanup(), but also calls `committed` with the result so far, after each change and at the end. */
async function cleanUp(
  db: Database,
  tasks: readonly CleanupTask[] = cleanupTasks,
  options: CleanupOptions,
  committed: Committed,
): Promise<CleanupResult> {
  const requested = new Set(checkedTasks(tasks));
  const { taskIdentifiersToKeep } = validate(optionsSchema, options);
  if (requested.has("gc-task-identifiers") || requested.has("gc-job-queues")) {
    await assertNoTransaction(db, "deleting unused names");
  }
  if (requested.size > 0) await deleteOldThrottles(db);
  const none = { deletedJobs: null, deletedTaskIdentifiers: null, deletedQueues: null };
  let result: CleanupResult = none;
  const counterOf = (member: keyof CleanupResult) => {
    result = { ...result, [member]: 0 };
    return (count: number) => {
      if (count === 0) return;
      result = { ...result, [member]: (result[member] ?? 0) + count };
      committed(result);
    };
  };
  const refused: CleanupRefusals = { job: [], identifier: [], queue_name: [] };
  if (requested.has("delete-permanently-failed-jobs")) {
    await deleteFailedJobs(db, refused.job, counterOf("deletedJobs"));
  }
  if (requested.has("gc-task-identifiers")) {
    const deleted = counterOf("deletedTaskIdentifiers");
    const unused = {
      column: "identifier",
      isUnused: isUnusedTask(await hasWorkerTable(db)),
    } as const;
    await deleteNames(db, { unused, values: [taskIdentifiersToKeep], refused, deleted });
  }
  if (requested.has("gc-job-queues")) {
    const deleted = counterOf("deletedQueues");
    if (await hasLimits(db)) await releaseUnusedQueues(db, NAMES_AT_ONCE);
    await deleteNames(db, { unused: UNUSED_QUEUES, values: [], refused, deleted });
    await recoverLostQueues(db);
  }
  committed(result);
  assertNoneRefused([
    [refused.job, "failed job", "job"],
    [refused.identifier, "unused task identifier", "the task with id"],
    [refused.queue_name, "unused queue", "the queue with id"],
  ]);
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

const isUnusedTask = (heartbeats: boolean) => (s: string) => {
  const isKept = "names.identifier <> all($3::text[])";
  return heartbeats ? `${isKept} and ${isOfNoWorker(s, "names")}` : isKept;
};

const UNUSED_QUEUES: NamesToDelete = {
  column: "queue_name",
  isUnused: () => "names.locked_at is null",
};

export const cleanupCommand = defineCommand({
  name: "cleanup",
  aliases: [],
  summary: "Delete failed jobs, unused task identifiers and unused queues",
  title: "Cleanup: delete failed jobs, unused tasks and queues",
  verb: "Clean up",
  consequence:
    "Deletes what is selected: failed jobs, task identifiers without jobs, queues without jobs.",
  weight: "heavy",
  danger: "destroys",
  http: maintenanceAction("cleanup"),
  positionals: [],
  fields: {
    // null is rejected: if it meant all tasks, a null sent by mistake would delete every failed job.
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
        default: "all three cleanups",
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
  run: (db, { cleanup_tasks: tasks }, { committed }) => cleanUp(db, tasks, {}, committed),
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
