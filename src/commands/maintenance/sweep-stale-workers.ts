// Recovers the jobs of stale workers by hand: the sweep that every worker makes (recover-jobs.ts),
// with a threshold for those that declare none, and for holders of locks that never had a heartbeat.
//
// This does not use the schema's functions: those of graphile_worker_rs give the attempt back, so
// that a job that kills its worker runs for ever, and a stock Graphile Worker schema has none.
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import type { Database } from "../../database/database.ts";
import { recoverByHand } from "../../queue/workers/recover-jobs.ts";
import { type FoundWorker, findStaleWorkers } from "../../queue/workers/stale-workers.ts";
import { hasWorkerTable, STALE_AFTER_MS, upToAYear } from "../../queue/workers/worker-table.ts";

/** Defaults as in graphile_worker_rs. */
export interface SweepOptions {
  /**
   * Milliseconds without a heartbeat after which a worker is stale, up to a year. Default 300,000.
   * Where a worker declares a longer one of its own, that holds.
   */
  readonly sweepThresholdMs?: number | undefined;
  /** Milliseconds before a recovered job may run again, up to a year. Default 30,000. */
  readonly recoveryDelayMs?: number | undefined;
  /** Only say what would be recovered. Default false. */
  readonly dryRun?: boolean | undefined;
}

/** What a sweep found, and recovered. */
export interface SweepResult {
  readonly dryRun: boolean;
  /** False on a stock schema: there every holder of an old lock counts, also a worker at work. */
  readonly hasHeartbeats: boolean;
  readonly staleWorkers: string[];
  /** Holders of old locks that have no heartbeat row. */
  readonly orphanWorkers: string[];
  /** Not heard of for the given threshold, but within their own, which is longer: left alone. */
  readonly sparedWorkers: string[];
  /** What the stale and the orphan workers held when they were found. */
  readonly lockedJobs: number;
  readonly lockedQueues: number;
  /**
   * What of that can be recovered now: in a dry run, what the real one would recover. Less than is
   * locked where jobs are resilient and their worker's longer threshold is not over.
   */
  readonly recoverableJobs: number;
  readonly recoverableQueues: number;
  /** What was recovered; 0 in a dry run. */
  readonly recoveredJobs: number;
  readonly recoveredQueues: number;
}

const optionsSchema = strict({
  sweepThresholdMs: v.optional(upToAYear, STALE_AFTER_MS),
  recoveryDelayMs: v.optional(upToAYear, 30_000),
  dryRun: v.optional(v.boolean("must be true or false"), false),
});

/**
 * Unlocks the jobs and queues of stale workers and forgets these workers, at most 1,000 in a sweep.
 * A recovered job keeps its attempts, says in last_error what happened, and runs no earlier than
 * now + delay. Throws InputError for an unknown option or a value out of range.
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
