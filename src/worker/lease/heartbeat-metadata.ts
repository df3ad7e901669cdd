// What a worker says about itself in its heartbeat row: for people, for those who sweep (how long
// its lease is), and for a cleanup, which keeps the tasks that it names.
import { hostname } from "node:os";
import { VERSION } from "../../base/version.ts";
import type { RecoveryConfig } from "../options/recovery-options.ts";

export interface WorkerDescription {
  readonly concurrency: number;
  readonly taskIdentifiers: readonly string[];
  readonly cronIdentifiers: readonly string[];
  readonly runningJobIds: readonly string[];
}

/** Entries and ids that are listed; the count beside the ids is exact. Tasks are listed all. */
const LONGEST_LIST = 1_000;

/** As JSON text. */
export function metadataText(
  { concurrency, taskIdentifiers, cronIdentifiers, runningJobIds }: WorkerDescription,
  { thresholdMs, resilientThresholdMs }: RecoveryConfig,
): string {
  return JSON.stringify({
    host: hostname(),
    pid: process.pid,
    version: VERSION,
    concurrency,
    task_identifiers: taskIdentifiers,
    cron_entries: cronIdentifiers.slice(0, LONGEST_LIST),
    running_jobs: runningJobIds.length,
    running_job_ids: runningJobIds.slice(0, LONGEST_LIST),
    threshold_ms: thresholdMs,
    resilient_threshold_ms: resilientThresholdMs,
  });
}
