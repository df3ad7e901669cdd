// What a worker says about itself in its heartbeat row: for people, and for those who sweep (how
// long its lease is).
import { hostname } from "node:os";
import { VERSION } from "../base/version.ts";
import type { RecoveryConfig } from "./recovery-options.ts";

export interface WorkerDescription {
  readonly concurrency: number;
  readonly taskIdentifiers: readonly string[];
  readonly cronIdentifiers: readonly string[];
  readonly runningJobIds: readonly string[];
}

/** Names and ids that are listed; the counts beside them are exact. */
const LONGEST_LIST = 1_000;

/** As JSON text. */
export function metadataText(
  { concurrency, taskIdentifiers, cronIdentifiers, runningJobIds }: WorkerDescription,
  { threshold_ms, resilientThreshold_ms }: RecoveryConfig,
): string {
  return JSON.stringify({
    host: hostname(),
    pid: process.pid,
    version: VERSION,
    concurrency,
    task_identifiers: taskIdentifiers.slice(0, LONGEST_LIST),
    cron_entries: cronIdentifiers.slice(0, LONGEST_LIST),
    running_jobs: runningJobIds.length,
    running_job_ids: runningJobIds.slice(0, LONGEST_LIST),
    threshold_ms,
    resilient_threshold_ms: resilientThreshold_ms,
  });
}
