// Creates the report in a worker's heartbeat row. The admin shows the report, sweeps read the worker's thresholds from
// it, and cleanups keep the tasks that it lists.
import { hostname } from "node:os";
import { monotonic, now } from "../../base/clock.ts";
import { VERSION } from "../../base/version.ts";
import type { CronEntry } from "../../domain/cron/cron-entry.ts";
import { entryDigest } from "../../domain/cron/entry-digest.ts";
import { PAUSES_APPLIED } from "../../queue/pauses/pause-state.ts";
import { MAX_REPORT_BYTES, ROOM_FOR_MARKS } from "../../queue/workers/worker-table.ts";
import type { RecoveryConfig } from "../options/recovery-options.ts";
import { WorkerRates } from "./rates.ts";

export interface WorkerDescription {
  readonly concurrency: number;
  readonly tasks: ReadonlyMap<string, { readonly tally: Counts }>;
  readonly cron: readonly CronTick[];
  /** The running jobs of both modes. */
  readonly running: readonly RunningJob[];
  readonly unstarted: readonly { readonly id: string; readonly fetchedAtMs: number }[];
  /** Jobs that stay locked because PostgreSQL refuses their results, and jobs and queues that it refuses to lock. */
  readonly unsettled: readonly {
    /** The id of the job, or the negated id of the queue. */
    readonly id: string;
    readonly error: string;
    readonly isLocked: boolean;
  }[];
  /** The mark (pause-state.ts) of the pauses that the worker applies; null: no mark yet, or no table of pauses. */
  readonly pausesApplied: string | null;
}

interface Counts {
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
}

/** A cron entry, and the time of its next tick; Infinity if no tick follows. */
export interface CronTick {
  readonly entry: CronEntry;
  readonly nextMs: number;
}

interface RunningJob {
  readonly job: { readonly id: string; readonly taskIdentifier: string };
  /** When the attempt began, by the monotonic clock. */
  readonly startedAtMs: number;
}

/** The maximum length of the lists of tasks, of cron entries and of ids. */
const MAX_LIST_LENGTH = 1_000;
/** The maximum number of cron entries with details, and of running jobs with their task and start. */
const MAX_DETAILS = 100;
/** The maximum number of tasks with counters, and of entries of `unsettled`. */
const MAX_SHORT_LIST_LENGTH = 20;
const MAX_ERROR_LENGTH = 1_000;

/** A job is listed as fetched only if its fetch is at least this old. Most jobs start earlier. */
const LISTED_AFTER_MS = 250;

/** Returns the ids of jobs to list as fetched. */
export function fetchedIds({ unstarted }: WorkerDescription): string[] {
  const beforeMs = monotonic() - LISTED_AFTER_MS;
  const fetched = unstarted.filter(({ fetchedAtMs }) => fetchedAtMs <= beforeMs);
  return fetched.slice(0, MAX_LIST_LENGTH).map(({ id }) => id);
}

export class HeartbeatMetadata {
  readonly #config: RecoveryConfig;
  readonly #rates = new WorkerRates();
  /**
   * By job id. Each start time is converted to the database's clock only once: the clocks drift, so a repeated
   * conversion would change the report.
   */
  #since = new Map<string, { readonly startedAtMs: number; readonly since: string }>();

  constructor(config: RecoveryConfig) {
    this.#config = config;
  }

  /**
   * Returns the report as JSON. Lists that contain names are shortened until the text fits into the table. `aheadMs`:
   * how far this machine's clock is ahead of the database's.
   */
  text(
    { concurrency, tasks, cron, running, unsettled, pausesApplied }: WorkerDescription,
    fetched: readonly string[],
    aheadMs: number,
  ): string {
    const names = [...tasks.keys()];
    const longest = running.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
    const { by_task, ...counters } = this.#counters(tasks);
    const details = this.#runningJson(longest.slice(0, MAX_DETAILS), aheadMs);
    const refused = unsettled.slice(0, MAX_SHORT_LIST_LENGTH).map(({ id, error, isLocked }) => ({
      ...{ id, error: error.slice(0, MAX_ERROR_LENGTH).toWellFormed() },
      ...(isLocked ? {} : { is_locked: false }),
    }));
    const textOf = (share: number) => {
      const most = (count: number) => Math.floor(count * share);
      return JSON.stringify({
        host: hostname(),
        pid: process.pid,
        version: VERSION,
        node: process.versions.node,
        concurrency,
        task_identifiers: names.slice(0, most(MAX_LIST_LENGTH)),
        tasks_cut: names.length > most(MAX_LIST_LENGTH),
        cron_entries: cron.slice(0, most(MAX_LIST_LENGTH)).map(({ entry }) => entry.identifier),
        cron: cron.slice(0, most(MAX_DETAILS)).map(cronJson),
        ...counters,
        by_task: by_task.slice(0, most(MAX_SHORT_LIST_LENGTH)),
        running_jobs: running.length,
        running_job_ids: longest.slice(0, MAX_LIST_LENGTH).map(({ job }) => job.id),
        fetched_job_ids: fetched,
        running: details.slice(0, most(MAX_DETAILS)),
        ...(unsettled.length > 0 ? { unsettled: refused } : {}),
        ...(pausesApplied === null ? {} : { [PAUSES_APPLIED]: pausesApplied }),
        threshold_ms: this.#config.thresholdMs,
        resilient_threshold_ms: this.#config.resilientThresholdMs,
      });
    };
    let share = 1;
    let text = textOf(share);
    while (share > 0 && storedBytes(text) > MAX_REPORT_BYTES - ROOM_FOR_MARKS) {
      share = share < 1 / MAX_LIST_LENGTH ? 0 : share / 2;
      text = textOf(share);
    }
    return text;
  }

  /** Returns the counts since the worker was created. */
  #counters(tasks: WorkerDescription["tasks"]) {
    const counted = [...tasks].map(([task, { tally }]) => {
      return { task, done: tally.done + tally.skipped, failed: tally.failed };
    });
    const done = counted.reduce((sum, one) => sum + one.done, 0);
    const failed = counted.reduce((sum, one) => sum + one.failed, 0);
    const busiest = counted
      .filter((one) => one.done + one.failed > 0)
      .sort((a, b) => b.done + b.failed - (a.done + a.failed));
    const rates = this.#rates.perMinute({ atMs: monotonic(), done, failed });
    return {
      done,
      failed,
      done_per_min: rates.done,
      failed_per_min: rates.failed,
      by_task: busiest,
    };
  }

  #runningJson(running: readonly RunningJob[], aheadMs: number) {
    const offsetMs = now() - monotonic() - aheadMs;
    const before = this.#since;
    this.#since = new Map();
    return running.map(({ job: { id, taskIdentifier: task }, startedAtMs }) => {
      const known = before.get(id);
      const isSame = known?.startedAtMs === startedAtMs;
      const since = isSame ? known.since : new Date(startedAtMs + offsetMs).toISOString();
      this.#since.set(id, { startedAtMs, since });
      return { id, task, since };
    });
  }
}

/** Returns an upper limit of the stored size: PostgreSQL adds a space after each comma and colon outside strings. */
function storedBytes(text: string): number {
  return Buffer.byteLength(text.replaceAll(/[,:]/g, "$& "));
}

function cronJson({ entry, nextMs }: CronTick) {
  const { identifier, taskIdentifier: task, expression: pattern, fillMs: backfill_ms } = entry;
  return {
    ...{ identifier, task, pattern, time_zone: entry.timeZone ?? "UTC", backfill_ms },
    key: entry.jobKey ?? null,
    digest: entryDigest(entry),
    next: Number.isFinite(nextMs) ? new Date(nextMs).toISOString() : null,
  };
}
