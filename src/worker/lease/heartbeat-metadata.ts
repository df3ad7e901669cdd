// What a worker says about itself in its heartbeat row: for people, for those who sweep (how long
// its lease is), and for a cleanup, which keeps the tasks that it names. Everything is bounded, and
// what does not change gives the same text, so that it need not be written again.
import { hostname } from "node:os";
import { monotonic, now } from "../../base/clock.ts";
import { VERSION } from "../../base/version.ts";
import { LONGEST_REPORT_BYTES, ROOM_FOR_MARKS } from "../../queue/workers/worker-report.ts";
import type { RecoveryConfig } from "../options/recovery-options.ts";
import { WorkerRates } from "./rates.ts";

export interface WorkerDescription {
  readonly concurrency: number;
  readonly tasks: ReadonlyMap<string, { readonly tally: Counts }>;
  readonly cron: readonly CronTick[];
  /** Of all modes, the fast one's row locks included: nobody else sees those. */
  readonly running: readonly RunningJob[];
  /** Jobs that were fetched and have not started. */
  readonly unstarted: readonly { readonly id: string; readonly fetchedAtMs: number }[];
  /** Jobs that have ended and stay locked, because PostgreSQL refuses their results. */
  readonly unsettled: readonly { readonly id: string; readonly error: string }[];
}

interface Counts {
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
}

/** An entry of the timetable and its next tick, infinite when there is none. */
export interface CronTick {
  readonly entry: {
    readonly identifier: string;
    readonly taskIdentifier: string;
    readonly expression: string;
    readonly fillMs: number;
    readonly jobKey?: string | undefined;
  };
  readonly nextMs: number;
}

interface RunningJob {
  readonly job: { readonly id: string; readonly taskIdentifier: string };
  /** By the monotonic clock. */
  readonly startedAtMs: number;
}

/** Tasks, entries and ids that are listed; the count beside the ids is exact. */
const LONGEST_LIST = 1_000;
/** Entries with all that there is to say about them, and running jobs with task and start. */
const LONGEST_DETAILS = 100;
const COUNTED_TASKS = 20;
const LONGEST_ERROR = 1_000;

/** What has been fetched for a shorter time starts or goes back before anybody reads of it. */
const FETCHED_MS = 250;

/** The jobs that are listed as fetched. */
export function fetchedIds({ unstarted }: WorkerDescription): string[] {
  const beforeMs = monotonic() - FETCHED_MS;
  const fetched = unstarted.filter(({ fetchedAtMs }) => fetchedAtMs <= beforeMs);
  return fetched.slice(0, LONGEST_LIST).map(({ id }) => id);
}

export class HeartbeatMetadata {
  readonly #config: RecoveryConfig;
  readonly #rates = new WorkerRates();
  /** Since when running jobs run: computed once, for clocks are never quite the same twice. */
  #since = new Map<string, string>();

  constructor(config: RecoveryConfig) {
    this.#config = config;
  }

  /**
   * As JSON text, no longer than PostgreSQL takes: the lists with names in them are halved until it is
   * so. `fetched`: ids that are listed as fetched and not started. `aheadMs`: how much later than the
   * database's this machine's clock is.
   */
  text(
    { concurrency, tasks, cron, running, unsettled }: WorkerDescription,
    fetched: readonly string[],
    aheadMs: number,
  ): string {
    const names = [...tasks.keys()];
    const longest = running.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
    const { by_task, ...counters } = this.#counters(tasks);
    const details = this.#runningJson(longest.slice(0, LONGEST_DETAILS), aheadMs);
    const refused = unsettled.slice(0, COUNTED_TASKS).map(({ id, error }) => {
      return { id, error: error.slice(0, LONGEST_ERROR).toWellFormed() };
    });
    const said = (share: number) => {
      const most = (count: number) => Math.floor(count * share);
      return JSON.stringify({
        host: hostname(),
        pid: process.pid,
        version: VERSION,
        node: process.versions.node,
        concurrency,
        task_identifiers: names.slice(0, most(LONGEST_LIST)),
        tasks_cut: names.length > most(LONGEST_LIST),
        cron_entries: cron.slice(0, most(LONGEST_LIST)).map(({ entry }) => entry.identifier),
        cron: cron.slice(0, most(LONGEST_DETAILS)).map(cronJson),
        ...counters,
        by_task: by_task.slice(0, most(COUNTED_TASKS)),
        running_jobs: running.length,
        running_job_ids: longest.slice(0, LONGEST_LIST).map(({ job }) => job.id),
        fetched_job_ids: fetched,
        running: details.slice(0, most(LONGEST_DETAILS)),
        ...(unsettled.length > 0 ? { unsettled: refused } : {}),
        threshold_ms: this.#config.thresholdMs,
        resilient_threshold_ms: this.#config.resilientThresholdMs,
      });
    };
    let share = 1;
    let text = said(share);
    while (share > 0 && storedBytes(text) > LONGEST_REPORT_BYTES - ROOM_FOR_MARKS) {
      share = share < 1 / LONGEST_LIST ? 0 : share / 2;
      text = said(share);
    }
    return text;
  }

  /** Since the worker was made: of all tasks together, and of the busiest. */
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
      const since = before.get(id) ?? new Date(startedAtMs + offsetMs).toISOString();
      this.#since.set(id, since);
      return { id, task, since };
    });
  }
}

/** At most: PostgreSQL writes JSON with a space behind each comma and colon that is not within a text. */
function storedBytes(text: string): number {
  return Buffer.byteLength(text.replaceAll(/[,:]/g, "$& "));
}

function cronJson({ entry, nextMs }: CronTick) {
  const { identifier, taskIdentifier: task, expression: pattern, fillMs: backfill_ms } = entry;
  const next = Number.isFinite(nextMs) ? new Date(nextMs).toISOString() : null;
  return { identifier, task, pattern, backfill_ms, key: entry.jobKey ?? null, next };
}
