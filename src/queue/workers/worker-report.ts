// What a worker says about itself in its heartbeat row (worker/lease/heartbeat-metadata.ts), read with
// care: anybody may write there, workers of other makes and versions do, and each part may be missing.
import { isJobId } from "../../domain/job-ids.ts";
import { isMoment } from "../../domain/moment.ts";

export interface WorkerReport {
  /** There is one, and it was not read: reports that are asked for together have a bound. */
  readonly isLeftOut: boolean;
  readonly host: string | null;
  readonly pid: number | null;
  /** Of this package. */
  readonly version: string | null;
  /** Of Node. */
  readonly node: string | null;
  /** Jobs that it runs at once. */
  readonly slots: number | null;
  readonly tasks: readonly string[];
  /** Whether `tasks` are all that it knows. */
  readonly hasAllTasks: boolean;
  readonly cron: readonly ReportedCronEntry[];
  /** Jobs that it has ended since it was made; null = it does not say. */
  readonly done: number | null;
  readonly failed: number | null;
  /** Of the last minute. */
  readonly donePerMin: number | null;
  readonly failedPerMin: number | null;
  /** Of the busiest tasks. */
  readonly byTask: readonly {
    readonly task: string;
    readonly done: number;
    readonly failed: number;
  }[];
  /** How many run, in both modes. */
  readonly running: number | null;
  /** How many it has locked and not started; as many as it lists. */
  readonly fetched: number | null;
  /** Those that run longest. `since`: RFC 3339. */
  readonly current: readonly {
    readonly id: string;
    readonly task: string;
    readonly since: string;
  }[];
}

export interface ReportedCronEntry {
  readonly identifier: string;
  readonly task: string;
  readonly pattern: string;
  readonly backfillMs: number;
  readonly key: string | null;
}

/** Our table takes no longer ones, and those in another's are not read. */
export const LONGEST_REPORT_BYTES = 262_144;
/** What a beat and a sweep add to a report. */
export const ROOM_FOR_MARKS = 256;

const MOST = 1_000;

export function workerReport(metadataText: string | null, isLeftOut = false): WorkerReport {
  const said = members(metadataText);
  return {
    isLeftOut,
    host: textIn(said, "host"),
    pid: numberIn(said, "pid"),
    version: textIn(said, "version"),
    node: textIn(said, "node"),
    slots: numberIn(said, "concurrency"),
    tasks: listIn(said, "task_identifiers").filter((one) => typeof one === "string"),
    hasAllTasks: Array.isArray(said["task_identifiers"]) && said["tasks_cut"] !== true,
    cron: listIn(said, "cron").flatMap(cronEntry),
    done: numberIn(said, "done"),
    failed: numberIn(said, "failed"),
    donePerMin: numberIn(said, "done_per_min"),
    failedPerMin: numberIn(said, "failed_per_min"),
    byTask: listIn(said, "by_task").flatMap(tasksCounts),
    running: numberIn(said, "running_jobs"),
    fetched: Array.isArray(said["fetched_job_ids"]) ? listIn(said, "fetched_job_ids").length : null,
    current: listIn(said, "running").flatMap(runningJob),
  };
}

type Members = Readonly<Record<string, unknown>>;

function members(text: string | null): Members {
  if (text === null || text.length > LONGEST_REPORT_BYTES) return {};
  try {
    return membersOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

function textIn(said: Members, name: string): string | null {
  const value = said[name];
  return typeof value === "string" ? value.slice(0, 1_024) : null;
}

function numberIn(said: Members, name: string): number | null {
  const value = said[name];
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

function listIn(said: Members, name: string): readonly unknown[] {
  const value = said[name];
  return Array.isArray(value) ? value.slice(0, MOST) : [];
}

function cronEntry(one: unknown): ReportedCronEntry[] {
  const said = membersOf(one);
  const [identifier, task, pattern] = ["identifier", "task", "pattern"].map((name) =>
    textIn(said, name),
  );
  if (identifier == null || task == null || pattern == null) return [];
  const backfillMs = numberIn(said, "backfill_ms") ?? 0;
  return [{ identifier, task, pattern, backfillMs, key: textIn(said, "key") }];
}

function tasksCounts(one: unknown) {
  const said = membersOf(one);
  const task = textIn(said, "task");
  if (task === null) return [];
  return [{ task, done: numberIn(said, "done") ?? 0, failed: numberIn(said, "failed") ?? 0 }];
}

function runningJob(one: unknown) {
  const said = membersOf(one);
  const [id, task, since] = ["id", "task", "since"].map((name) => textIn(said, name));
  const isUsable = id != null && task != null && since != null;
  return isUsable && isJobId(id) && isMoment(since) ? [{ id, task, since }] : [];
}
