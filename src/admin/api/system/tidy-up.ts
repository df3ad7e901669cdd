// The number of rows that each cleanup task would delete, from the feed's counts.
import type { Database } from "../../../database/database.ts";
import { between, exact, type Value } from "../../../domain/value.ts";
import { countUnusedQueues, countUnusedTasks } from "../../../insight/read/count-unused.ts";
import type { QueueSnapshot } from "../../../insight/snapshot/queue-snapshot.ts";
import type { NameTally } from "../../../insight/stats/name-tallies.ts";

/** Returns the number for each cleanup task, by its name. */
export async function readTidyUp(
  db: Database,
  { counts, names }: QueueSnapshot,
): Promise<{ readonly task: string; readonly count: Value }[]> {
  const { tasks, queues } = names.tallies;
  const unusedTasks = await countUnusedTasks(db, idsWithJobs(tasks));
  const unusedQueues = await countUnusedQueues(db, idsWithJobs(queues));
  return [
    { task: "delete-permanently-failed-jobs", count: counts.states.failed },
    { task: "gc-task-identifiers", count: unused(unusedTasks, names) },
    { task: "gc-job-queues", count: unused(unusedQueues, names) },
  ];
}

function idsWithJobs(tallies: ReadonlyMap<number, NameTally>): number[] {
  return [...tallies].flatMap(([id, { counts }]) =>
    Object.values(counts).some((count) => count > 0) ? [id] : [],
  );
}

/** A name without jobs in a sample may still have some, so the number of unused names is an upper limit. */
function unused(count: number, { basis, asOf }: QueueSnapshot["names"]): Value {
  if (basis === "scan") return exact(count, basis, asOf);
  const value = basis === "census" ? count : count / 2;
  return between({ value, low: 0, high: count }, basis, asOf);
}
