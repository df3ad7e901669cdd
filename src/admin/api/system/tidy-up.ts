// Reads what each cleanup task would delete: the number of rows, and at most ten names. No jobs are read, because the
// feed's counts show how many jobs have failed and which names are in use.
import type { Database } from "../../../database/database.ts";
import { exactValue, intervalValue, type Value } from "../../../domain/value.ts";
import { readUnusedQueues, readUnusedTasks } from "../../../insight/read/count-unused.ts";
import type { QueueSnapshot } from "../../../insight/snapshot/queue-snapshot.ts";
import type { NameTally } from "../../../insight/stats/name-tallies.ts";
import { readNames } from "../../../insight/stats/queue-rows.ts";

export interface TidyUp {
  readonly task: string;
  readonly count: Value;
  /** At most ten names that would be deleted; for a deletion of failed jobs, the tasks with the most failed jobs. */
  readonly names: readonly string[];
}

const MAX_NAMES = 10;

export async function readTidyUp(
  db: Database,
  { counts, names }: QueueSnapshot,
): Promise<readonly TidyUp[]> {
  const { tasks, queues } = names.tallies;
  const unusedTasks = await readUnusedTasks(db, idsWithJobs(tasks));
  const unusedQueues = await readUnusedQueues(db, idsWithJobs(queues));
  return [
    {
      task: "delete-permanently-failed-jobs",
      count: counts.states.failed,
      names: await tasksOfFailed(db, tasks),
    },
    {
      task: "gc-task-identifiers",
      count: unusedCount(unusedTasks.count, names),
      names: unusedTasks.names,
    },
    {
      task: "gc-job-queues",
      count: unusedCount(unusedQueues.count, names),
      names: unusedQueues.names,
    },
  ];
}

function idsWithJobs(tallies: ReadonlyMap<number, NameTally>): number[] {
  return [...tallies].flatMap(([id, { counts }]) =>
    Object.values(counts).some((count) => count > 0) ? [id] : [],
  );
}

/** Returns the names of the tasks with the most failed jobs. */
async function tasksOfFailed(
  db: Database,
  tallies: ReadonlyMap<number, NameTally>,
): Promise<string[]> {
  const ids = [...tallies]
    .filter(([, { counts }]) => counts.failed > 0)
    .sort(([, one], [, other]) => other.counts.failed - one.counts.failed)
    .slice(0, MAX_NAMES)
    .map(([id]) => id);
  const names = await readNames(db, "task", ids);
  return ids.flatMap((id) => names.get(id) ?? []);
}

/**
 * Returns the number of unused names. `count`: the number of names that were found unused. If `count` is 0, or if
 * the whole table of jobs was read at once, `count` is exact. Otherwise, `count` is an upper bound, because jobs that
 * were not counted may use some of the names. A sample counts only some of the jobs: the estimate is half of `count`,
 * rounded up. A census counts the jobs in parts and may miss some: the estimate is `count`.
 */
function unusedCount(count: number, { basis, asOf }: QueueSnapshot["names"]): Value {
  if (basis === "scan" || count === 0) return exactValue(count, basis, asOf);
  const value = basis === "census" ? count : Math.ceil(count / 2);
  return intervalValue({ value, low: 0, high: count }, basis, asOf);
}
