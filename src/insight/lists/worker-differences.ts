// Differences between live workers: versions of the package, tasks that only some workers support, and cron entries
// that are defined differently or are also schedules.
import type { Database } from "../../database/database.ts";
import { countText } from "../../domain/words.ts";
import { scheduledNames } from "../read/list-schedules.ts";
import {
  type CronVersion,
  type LiveCronEntry,
  type LiveTasks,
  type LiveVersion,
  liveCron,
  liveTasks,
  liveVersions,
} from "./worker-reports.ts";

/**
 * A difference as a sentence: `name` is the subject, and `text` is the rest. If `kind` is `workers`, `name` is a text
 * such as `3 workers` or `Cron entry nightly`.
 */
export interface WorkerDifference {
  readonly kind: "worker" | "workers" | "task";
  readonly name: string;
  readonly text: string;
}

const MAX_TASKS = 5;
const MAX_ENTRIES = 5;
/** The maximum number of shown versions of a cron entry. */
const MAX_VERSIONS = 3;

export async function workerDifferences(db: Database): Promise<WorkerDifference[]> {
  const [versions, tasks] = await Promise.all([liveVersions(db), liveTasks(db)]);
  return [
    ...versionDifferences(versions),
    ...taskDifferences(tasks),
    ...(await cronDifferences(db)),
  ];
}

function versionDifferences([usual, ...others]: readonly LiveVersion[]): WorkerDifference[] {
  if (usual === undefined) return [];
  const rest = `${others.length > 1 ? "the most frequent version is" : "the others run"} ${usual.version}`;
  return others.map(({ version, workers, workerId }) =>
    workers === 1
      ? { kind: "worker", name: workerId, text: `runs ${version}; ${rest}.` }
      : { kind: "workers", name: `${workers} workers`, text: `run ${version}; ${rest}.` },
  );
}

/** Tasks are compared only if each worker's list of tasks was read completely. */
function taskDifferences({ workers, areAll, living }: LiveTasks): WorkerDifference[] {
  if (!areAll) return [];
  const some = [...workers].filter(([, count]) => count < living);
  some.sort(([a, few], [b, more]) => few - more || (a < b ? -1 : 1));
  return some.slice(0, MAX_TASKS).map(([name, count]) => ({
    kind: "task",
    name,
    text: `is supported by ${count} of ${living}.`,
  }));
}

/** The text about a cron entry that is also a schedule. */
export const IN_CODE_AND_SCHEDULE =
  "is both a cron entry of workers and a schedule, and each adds its own jobs: remove or rename one.";

/** Returns up to MAX_ENTRIES cron entries that live workers define differently, or that are schedules, too. */
export async function cronDifferences(db: Database): Promise<WorkerDifference[]> {
  const living = await liveCron(db);
  const names = living.map(({ identifier }) => identifier);
  const scheduled = new Set(await scheduledNames(db, names));
  const found = living.flatMap((entry): WorkerDifference[] => {
    const isBoth = scheduled.has(entry.identifier);
    const text = isBoth ? IN_CODE_AND_SCHEDULE : entryDifference(entry);
    return text === null ? [] : [{ kind: "workers", name: `Cron entry ${entry.identifier}`, text }];
  });
  return found.slice(0, MAX_ENTRIES);
}

/** Returns how an entry's versions differ, as a text that follows the entry's name; null if there is only one. */
export function entryDifference({ versions }: LiveCronEntry): string | null {
  if (versions.length < 2) return null;
  const differs = (name: "task" | "pattern" | "timeZone") =>
    new Set(versions.map((one) => one[name])).size > 1;
  const what = [
    ...(differs("pattern") ? ["pattern"] : []),
    ...(differs("timeZone") ? ["time zone"] : []),
    ...(differs("task") ? ["task"] : []),
  ];
  const shown = versions.slice(0, MAX_VERSIONS).map((version) => {
    const { pattern, timeZone, task } = version;
    return `${pattern} ${timeZone}${differs("task") ? `, task ${task}` : ""} on ${holders(version)}`;
  });
  const more = versions.length > MAX_VERSIONS ? ", …" : "";
  const names = what.length === 0 ? "payload or options" : what.join(" and ");
  return `differs in its ${names}: ${shown.join("; ")}${more}. Each tick adds one job, with the definition of the first worker that handles the tick.`;
}

const holders = ({ workers, workerIds: [first] }: CronVersion) =>
  workers === 1 && first !== undefined ? first : countText(workers, "worker");
