// The operations of an operator. They list and cancel jobs, list queues and workers, clean up, unlock or recover the
// jobs of workers, and control pauses, schedules and limits. bound-operations.ts imports this file when one of these
// operations is first called, so a process that only runs and adds jobs does not load it.

import { waitForCancelledJobs } from "../commands/cancel/wait-for-cancelled.ts";
import { type CancelOptions, cancelJobs } from "../commands/jobs/cancel-jobs.ts";
import { type CleanupOptions, type CleanupTask, cleanup } from "../commands/maintenance/cleanup.ts";
import { forceUnlockWorkers } from "../commands/maintenance/force-unlock-workers.ts";
import {
  type SweepOptions,
  sweepStaleWorkers,
} from "../commands/maintenance/sweep-stale-workers.ts";
import { type PauseOptions, pauseWith, resumeTarget } from "../commands/pauses/pause-options.ts";
import type { Database } from "../database/database.ts";
import type { JobToAdd } from "../domain/job-spec.ts";
import { listPauses } from "../insight/controls/list-pauses.ts";
import type { JobFilter } from "../insight/pages/job-filter.ts";
import { listJobs } from "../insight/pages/list-jobs.ts";
import { listActiveWorkers } from "../insight/read/list-active-workers.ts";
import { listLockedWorkers } from "../insight/read/list-locked-workers.ts";
import { listQueues } from "../insight/read/list-queues.ts";
import { ALL } from "../queue/pauses/pause.ts";
import { limitOperations } from "./limit-operations.ts";
import { scheduleOperations } from "./schedule-operations.ts";

export type OperatorOperations = ReturnType<typeof operatorOperations>;

/** Returns the operations on `db`. `add`: the function with which runSchedule() adds its job. */
export function operatorOperations(db: Database, add: (job: JobToAdd) => Promise<unknown>) {
  return {
    ...scheduleOperations(db, add),
    ...limitOperations(db),
    cancelJobs: (ids: readonly string[], options?: CancelOptions) => cancelJobs(db, ids, options),
    waitForCancelledJobs: (ids: readonly string[], options?: { readonly timeoutMs?: number }) =>
      waitForCancelledJobs(db, ids, options),
    listJobs: (filter?: JobFilter) => listJobs(db, filter),
    listQueues: (limit?: number) => listQueues(db, limit),
    listLockedWorkers: () => listLockedWorkers(db),
    listActiveWorkers: (options?: { readonly staleAfterMs?: number }) =>
      listActiveWorkers(db, options),
    cleanup: (tasks?: readonly CleanupTask[], options?: CleanupOptions) =>
      cleanup(db, tasks, options),
    forceUnlockWorkers: (workerIds: readonly string[]) => forceUnlockWorkers(db, workerIds),
    pauseQueue: (name: string, options?: PauseOptions) =>
      pauseWith(db, { scope: "queue", name }, options),
    pauseTask: (identifier: string, options?: PauseOptions) =>
      pauseWith(db, { scope: "task", name: identifier }, options),
    pauseAll: (options?: PauseOptions) => pauseWith(db, { scope: "all", name: ALL }, options),
    resumeQueue: (name: string) => resumeTarget(db, { scope: "queue", name }),
    resumeTask: (identifier: string) => resumeTarget(db, { scope: "task", name: identifier }),
    resumeAll: () => resumeTarget(db, { scope: "all", name: ALL }),
    listPauses: () => listPauses(db),
    sweepStaleWorkers: (options?: SweepOptions) => sweepStaleWorkers(db, options),
  };
}
