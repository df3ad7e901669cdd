// Recovers the jobs of stale workers on request: the sweep that every worker runs (recover-jobs.ts), with a threshold
// for workers that declare none and for lock holders without heartbeats. It does not call the schema's functions: those
// of graphile_worker_rs give the attempt back, so that a job that crashes its worker runs for ever, and a stock
// Graphile Worker schema has none.
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import type { Database } from "../../database/database.ts";
import { recoverByHand } from "../../queue/workers/recover-jobs.ts";
import { type FoundWorker, findStaleWorkers } from "../../queue/workers/stale-workers.ts";
import { hasWorkerTable, STALE_AFTER_MS, upToAYear } from "../../queue/workers/worker-table.ts";

/** Defaults as in graphile_worker_rs. */
export interface SweepOptions {
  /**
   * A worker is stale after this many milliseconds without a heartbeat, up to a year. Default 300,000. A worker's own
   * longer threshold takes precedence.
   */
  readonly sweepThresholdMs?: number | undefined;
  /** Milliseconds before a recovered job may run again, up to a year. Default 30,000. */
  readonly recoveryDelayMs?: number | undefined;
  /** Only report what would be recovered. Default false. */
  readonly dryRun?: boolean | undefined;
}

/** What a sweep found and recovered. */
export interface SweepResult {
  readonly dryRun: boolean;
  /** False on a stock schema: every holder of an old lock counts, even if its worker is alive. */
  readonly hasHeartbeats: boolean;
  readonly staleWorkers: string[];
  /** Holders of old locks without a heartbeat row. */
  readonly orphanWorkers: string[];
  /** No heartbeat within the given threshold, but within the worker's own, longer one: left alone. */
  readonly sparedWorkers: string[];
  /** Jobs locked by stale and unknown workers when they were found. */
  readonly lockedJobs: number;
  readonly lockedQueues: number;
  /**
   * Jobs that can be recovered now; in a dry run, those that a real one would recover. Resilient jobs count once their
   * worker's longer threshold has passed.
   */
  readonly recoverableJobs: number;
  readonly recoverableQueues: number;
  /** Recovered jobs; 0 in a dry run. */
  readonly recoveredJobs: number;
  readonly recoveredQueues: number;
}

const optionsSchema = strict({
  sweepThresholdMs: v.optional(upToAYear, STALE_AFTER_MS),
  recoveryDelayMs: v.optional(upToAYear, 30_000),
  dryRun: v.optional(v.boolean("must be true or false"), false),
});

/**
 * Unlocks the jobs and queues of stale workers and deletes these workers, at most 1,000 in a sweep. A recovered job
 * keeps its attempts, gets the reason as last_error, and runs no earlier than now + delay. Throws InputError for an
 * unknown option or a value out of range.
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
  const [staleWorkers, orphanWorkers] = [idsOf("stale"), idsOf("orphan")];
  const counts =
    staleWorkers.length + orphanWorkers.length === 0
      ? { jobs: 0, queues: 0 }
      : await recoverByHand(db, {
          hasHeartbeats,
          isDry: dryRun,
          thresholdMs,
          delayMs,
          staleWorkerIds: staleWorkers,
          orphanWorkerIds: orphanWorkers,
        });
  const held = found.filter(({ kind }) => kind !== "spared");
  return {
    dryRun,
    hasHeartbeats,
    staleWorkers,
    orphanWorkers,
    sparedWorkers: idsOf("spared"),
    lockedJobs: held.reduce((sum, worker) => sum + worker.lockedJobs, 0),
    lockedQueues: held.reduce((sum, worker) => sum + worker.lockedQueues, 0),
    recoverableJobs: counts.jobs,
    recoverableQueues: counts.queues,
    recoveredJobs: dryRun ? 0 : counts.jobs,
    recoveredQueues: dryRun ? 0 : counts.queues,
  };
}
