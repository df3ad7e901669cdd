// The manual sweep: recovers the jobs of stale workers on request. Unlike the workers' own sweeps
// (queue/workers/recover-jobs.ts), it also recovers jobs of workers without heartbeats. graphile_worker_rs's SQL
// function for a sweep is not used: it does not count the interrupted attempt, so a job that crashes its worker would
// run for ever.
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
  /** Whether the sweep was a dry run. */
  readonly dryRun: boolean;
  /**
   * Whether the schema has the table of heartbeats. Without this table, each worker whose newest lock is older than
   * `sweepThresholdMs` counts as unknown, even if the worker is still running.
   */
  readonly hasHeartbeats: boolean;
  /** The ids of workers whose last heartbeat is older than `sweepThresholdMs` and than their own threshold. */
  readonly staleWorkers: string[];
  /** The ids of workers without a heartbeat row whose newest lock is older than `sweepThresholdMs`. */
  readonly unknownWorkers: string[];
  /**
   * The ids of workers whose last heartbeat is older than `sweepThresholdMs`, but not older than their own, longer
   * threshold. These workers are not swept.
   */
  readonly sparedWorkers: string[];
  /**
   * The ids of stale and unknown workers that a second search, after the sweep, has still found, for example because
   * PostgreSQL refuses to unlock one of their jobs. If the second search fails, all stale and unknown workers are
   * listed. A dry run lists none.
   */
  readonly unsweptWorkers: string[];
  /** The ids of jobs that stay locked, because a trigger or constraint refuses the change. */
  readonly refusedJobs: string[];
  /** The number of jobs that stale and unknown workers had locked. */
  readonly lockedJobs: number;
  /** The number of named queues, and of slots of named queues, that stale and unknown workers had locked. */
  readonly lockedQueues: number;
  /**
   * In a dry run, the number of jobs that would be recovered now; after a sweep, equal to `recoveredJobs`. A job with
   * the flag `infrastructure_resilient` counts only after its worker's threshold for such jobs, which may be longer.
   */
  readonly recoverableJobs: number;
  /**
   * In a dry run, the number of named queues and slots that would be unlocked now; after a sweep, equal to
   * `recoveredQueues`.
   */
  readonly recoverableQueues: number;
  /** The number of recovered jobs; 0 in a dry run. */
  readonly recoveredJobs: number;
  /** The number of unlocked named queues and slots; 0 in a dry run. */
  readonly recoveredQueues: number;
}

const optionsSchema = strict({
  sweepThresholdMs: v.optional(upToAYear, STALE_AFTER_MS),
  recoveryDelayMs: v.optional(upToAYear, 30_000),
  dryRun: v.optional(v.boolean("must be true or false"), false),
});

/**
 * Unlocks the jobs and queues of at most 1,000 stale and unknown workers. A recovered job gets the reason as
 * `last_error`, and waits at least `recoveryDelayMs`; the interrupted attempt counts. Throws InputError for an unknown
 * option or a value out of range.
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
