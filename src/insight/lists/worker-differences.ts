// Differences between live workers: another version, a task that only some of them support.
import type { Database } from "../../database/database.ts";
import {
  type LivingTasks,
  type LivingVersion,
  livingTasks,
  livingVersions,
} from "./worker-reports.ts";

/** `name` is that of a worker or a task, depending on `kind`, or of several workers; `text` continues it. */
export interface WorkerDifference {
  readonly kind: "worker" | "workers" | "task";
  readonly name: string;
  readonly text: string;
}

const MOST_TASKS = 5;

export async function workerDifferences(db: Database): Promise<WorkerDifference[]> {
  const [versions, tasks] = await Promise.all([livingVersions(db), livingTasks(db)]);
  return [...versionsApart(versions), ...tasksApart(tasks)];
}

function versionsApart([usual, ...others]: readonly LivingVersion[]): WorkerDifference[] {
  if (usual === undefined) return [];
  const rest = `${others.length > 1 ? "most" : "the others"} ${usual.version}`;
  return others.map(({ version, workers, workerId }) =>
    workers === 1
      ? { kind: "worker", name: workerId, text: `runs ${version}, ${rest}.` }
      : { kind: "workers", name: `${workers} workers`, text: `run ${version}, ${rest}.` },
  );
}

/** Only if each worker lists all its tasks; the least supported tasks come first. */
function tasksApart({ workers, areAll, living }: LivingTasks): WorkerDifference[] {
  if (!areAll) return [];
  const some = [...workers].filter(([, count]) => count < living);
  some.sort(([a, few], [b, more]) => few - more || (a < b ? -1 : 1));
  return some.slice(0, MOST_TASKS).map(([name, count]) => ({
    kind: "task",
    name,
    text: `is supported by ${count} of ${living}.`,
  }));
}
