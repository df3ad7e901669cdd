// Recovers the jobs of stale workers on request, like the sweep that workers run (queue/workers/recover-jobs.ts). This
// sweep also recovers jobs of workers without heartbeats, and its threshold replaces shorter thresholds of workers. It
// calls no function of the schema: Graphile Worker's schema has no function for a sweep, and the function of
// graphile_worker_rs does not count the interrupted attempt, so a job that crashes its worker would run for ever.
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import type { Database } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { recoverByHand } from "../../queue/workers/recover-jobs.ts";
import { STALE_AFTER_MS, upToAYear } from "../../queue/workers/worker-table.ts";
import { type FoundWorker, findStaleWorkers } from "./find-stale-workers.ts";

/** Options of sweepStaleWorkers(). The defaults are those of graphile_worker_rs. */
export interface SweepOptions {
  /**
   * The time after which a worker is swept, in milliseconds, at most a year. It is measured from the worker's last
   * heartbeat, or for an unknown worker from its newest lock. A longer threshold of the worker itself has precedence.
   * Default 300,000.
   */
  readonly sweepThresholdMs?: number | undefined;
  /** The time before a recovered job may run again, in milliseconds, at most a year. Default 30,000. */
  readonly recoveryDelayMs?: number | undefined;
  /** Whether to report only what would be recovered. Default false. */
  readonly dryRun?: boolean | undefined;
}

/** The result of sweepStaleWorkers(). */
export interface SweepResult {
  /** Whether it was a dry run, which changes nothing. */
  readonly dryRun: boolean;
  /**
   * False if the schema has no table of heartbeats. Then every worker whose newest lock is old counts as unknown, even
   * if it is still running.
   */
  readonly hasHeartbeats: boolean;
  /** The ids of workers whose last heartbeat is too old. */
  readonly staleWorkers: string[];
  /** The ids of unknown workers: they hold old locks and have never sent a heartbeat. */
  readonly unknownWorkers: string[];
  /**
   * The ids of workers without a heartbeat within the given threshold, but with one within their own, longer threshold.
   * They are not changed.
   */
  readonly sparedWorkers: string[];
  /**
   * The ids of stale and unknown workers that were not swept, or not completely: PostgreSQL refuses to unlock one of
   * their jobs or queues, another session has locked such a row, or the sweep failed after it had recovered other
   * workers' jobs. If the check after the sweep failed, the ids of all stale and unknown workers. Empty in a dry run.
   */
  readonly unsweptWorkers: string[];
  /** The ids of jobs that stay locked, because a trigger or constraint refuses the change. */
  readonly refusedJobs: string[];
  /** The number of jobs that stale and unknown workers had locked. */
  readonly lockedJobs: number;
  /** The number of named queues that these workers had locked. */
  readonly lockedQueues: number;
  /**
   * The number of these jobs that can be recovered now. A job with the flag `infrastructure_resilient` counts only
   * after the threshold of its worker for such jobs, which may be longer.
   */
  readonly recoverableJobs: number;
  /** The number of these queues that can be unlocked now. */
  readonly recoverableQueues: number;
  /** The number of recovered jobs; 0 in a dry run. */
  readonly recoveredJobs: number;
  /** The number of unlocked queues; 0 in a dry run. */
  readonly recoveredQueues: number;
}

const optionsSchema = strict({
  sweepThresholdMs: v.optional(upToAYear, STALE_AFTER_MS),
  recoveryDelayMs: v.optional(upToAYear, 30_000),
  dryRun: v.optional(v.boolean("must be true or false"), false),
});

/**
 * Unlocks the jobs and queues of at most 1,000 stale and unknown workers. Deletes the heartbeat row of a swept worker,
 * or marks the row if the worker's longer threshold for resilient jobs is not reached. A recovered job keeps its
 * attempts, gets the reason as last_error, and waits `recoveryDelayMs`. Throws InputError for an unknown option or a
 * value out of range.
 */
export async function sweepStaleWorkers(
  db: Database,
  options: SweepOptions = {},
): Promise<SweepResult> {
  const {
    sweepThresholdMs: thresholdMs,
    recoveryDelayMs: delayMs,
    dryRun,
  } = validate(optionsSchema, options);
  const hasHeartbeats = await hasWorkerTable(db);
  const found = await findStaleWorkers(db, hasHeartbeats, thresholdMs);
  const idsOf = (kind: FoundWorker["kind"]) =>
    found.filter((one) => one.kind === kind).map(({ workerId }) => workerId);
  const [staleWorkers, unknownWorkers] = [idsOf("stale"), idsOf("unknown")];
  const counts =
    staleWorkers.length + unknownWorkers.length === 0
      ? { jobs: 0, queues: 0, refused: [] }
      : await recoverByHand(db, {
          hasHeartbeats,
          isDry: dryRun,
          thresholdMs,
          delayMs,
          staleWorkerIds: staleWorkers,
          unknownWorkerIds: unknownWorkers,
        });
  const affected = found.filter(({ kind }) => kind !== "spared");
  // A swept worker is not found again. If this read fails, no worker counts as swept.
  const isDone = dryRun || affected.length === 0;
  const after = isDone
    ? []
    : await findStaleWorkers(db, hasHeartbeats, thresholdMs).catch(() => found);
  const isLeft = (id: string) =>
    after.some(({ workerId, kind }) => workerId === id && kind !== "spared");
  return {
    dryRun,
    hasHeartbeats,
    staleWorkers,
    unknownWorkers,
    sparedWorkers: idsOf("spared"),
    unsweptWorkers: [...staleWorkers, ...unknownWorkers].filter(isLeft),
    refusedJobs: counts.refused.map(({ id }) => id),
    lockedJobs: affected.reduce((sum, worker) => sum + worker.lockedJobs, 0),
    lockedQueues: affected.reduce((sum, worker) => sum + worker.lockedQueues, 0),
    recoverableJobs: counts.jobs,
    recoverableQueues: counts.queues,
    recoveredJobs: dryRun ? 0 : counts.jobs,
    recoveredQueues: dryRun ? 0 : counts.queues,
  };
}
