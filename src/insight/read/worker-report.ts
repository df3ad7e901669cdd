// Reads the report in a worker's heartbeat row. Other programs and versions write reports, too. If a member is missing
// or invalid, the result has null, an empty list or a default.
import { isJobId } from "../../domain/job-ids.ts";
import { isMoment } from "../../domain/moment.ts";
import { MAX_REPORT_BYTES } from "../../queue/workers/worker-table.ts";

export interface WorkerReport {
  /** Whether the report was not read, because all requested reports together are too large. */
  readonly isLeftOut: boolean;
  readonly host: string | null;
  readonly pid: number | null;
  /** The version of this package. */
  readonly version: string | null;
  /** The version of Node. */
  readonly node: string | null;
  /** The maximum number of jobs that the worker runs at once. */
  readonly slots: number | null;
  readonly tasks: readonly string[];
  /** Whether `tasks` is the complete list. */
  readonly hasAllTasks: boolean;
  readonly cron: readonly ReportedCronEntry[];
  /** The number of jobs completed or skipped since the worker was created. */
  readonly done: number | null;
  /** The number of failed attempts since the worker was created. */
  readonly failed: number | null;
  /** Like `done` and `failed`, but per minute, over about the last minute. */
  readonly donePerMin: number | null;
  readonly failedPerMin: number | null;
  /** For each of the worker's busiest tasks: `done` and `failed` since the worker was created. */
  readonly byTask: readonly {
    readonly task: string;
    readonly done: number;
    readonly failed: number;
  }[];
  /** The number of running jobs. */
  readonly running: number | null;
  /** The number of jobs that are locked and not started, at most 1,000. */
  readonly fetched: number | null;
  /** The running jobs that started first. `since`: when the job started, RFC 3339. */
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
  /** The time zone of the pattern. Default: UTC. */
  readonly timeZone: string;
  readonly backfillMs: number;
  readonly key: string | null;
  /** A hash of the payload and options of the entry's jobs. */
  readonly digest: string | null;
}

const MAX_ITEMS = 1_000;

export function workerReport(metadataText: string | null, isLeftOut = false): WorkerReport {
  const report = members(metadataText);
  return {
    isLeftOut,
    host: textIn(report, "host"),
    pid: numberIn(report, "pid"),
    version: textIn(report, "version"),
    node: textIn(report, "node"),
    slots: numberIn(report, "concurrency"),
    tasks: listIn(report, "task_identifiers").filter((one) => typeof one === "string"),
    hasAllTasks: Array.isArray(report["task_identifiers"]) && report["tasks_cut"] !== true,
    cron: listIn(report, "cron").flatMap(cronEntry),
    done: numberIn(report, "done"),
    failed: numberIn(report, "failed"),
    donePerMin: numberIn(report, "done_per_min"),
    failedPerMin: numberIn(report, "failed_per_min"),
    byTask: listIn(report, "by_task").flatMap(tasksCounts),
    running: numberIn(report, "running_jobs"),
    fetched: Array.isArray(report["fetched_job_ids"])
      ? listIn(report, "fetched_job_ids").length
      : null,
    current: listIn(report, "running").flatMap(runningJob),
  };
}

type Members = Readonly<Record<string, unknown>>;

function members(text: string | null): Members {
  if (text === null || text.length > MAX_REPORT_BYTES) return {};
  try {
    return membersOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

function textIn(report: Members, name: string): string | null {
  const value = report[name];
  return typeof value === "string" ? value.slice(0, 1_024) : null;
}

function numberIn(report: Members, name: string): number | null {
  const value = report[name];
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

function listIn(report: Members, name: string): readonly unknown[] {
  const value = report[name];
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [];
}

function cronEntry(one: unknown): ReportedCronEntry[] {
  const report = membersOf(one);
  const [identifier, task, pattern] = ["identifier", "task", "pattern"].map((name) =>
    textIn(report, name),
  );
  if (identifier == null || task == null || pattern == null) return [];
  const timeZone = textIn(report, "time_zone") ?? "UTC";
  const backfillMs = numberIn(report, "backfill_ms") ?? 0;
  const [key, digest] = [textIn(report, "key"), textIn(report, "digest")];
  return [{ identifier, task, pattern, timeZone, backfillMs, key, digest }];
}

function tasksCounts(one: unknown) {
  const report = membersOf(one);
  const task = textIn(report, "task");
  if (task === null) return [];
  return [{ task, done: numberIn(report, "done") ?? 0, failed: numberIn(report, "failed") ?? 0 }];
}

function runningJob(one: unknown) {
  const report = membersOf(one);
  const [id, task, since] = ["id", "task", "since"].map((name) => textIn(report, name));
  const isUsable = id != null && task != null && since != null;
  return isUsable && isJobId(id) && isMoment(since) ? [{ id, task, since }] : [];
}
