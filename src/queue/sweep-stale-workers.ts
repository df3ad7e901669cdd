// Gives back the jobs of workers that are dead without having said goodbye (see dead-workers).
//
// This does not use the schema's functions: those of graphile_worker_rs give the attempt back, so
// that a job that kills its worker runs for ever, and a stock Graphile Worker schema has none.
import * as v from "valibot";
import { strict, validate } from "../base/validate.ts";
import type { Database, Statement } from "../database/database.ts";
import { contendedQuery } from "./contended-query.ts";
import { findDeadWorkers } from "./dead-workers.ts";
import { hasWorkerTable, STALE_AFTER_S, seconds } from "./worker-table.ts";

/** Defaults as in graphile_worker_rs. */
export interface SweepOptions {
  /** Seconds of silence after which a worker is dead, up to a year. Default 300. */
  readonly sweepThreshold_s?: number | undefined;
  /** Seconds before a recovered job may run again, up to a year. Default 30. */
  readonly recoveryDelay_s?: number | undefined;
  /** Only say what would be swept. Default false. */
  readonly dryRun?: boolean | undefined;
}

export interface SweepResult {
  readonly dryRun: boolean;
  /** False on a stock schema: there every holder of an old lock counts, also a worker at work. */
  readonly hasHeartbeats: boolean;
  readonly staleWorkers: string[];
  readonly orphanWorkers: string[];
  /** What these workers held when they were found. */
  readonly lockedJobs: number;
  readonly lockedQueues: number;
  /** What was given back; 0 in a dry run. */
  readonly recoveredJobs: number;
  readonly recoveredQueues: number;
}

const optionsSchema = strict({
  sweepThreshold_s: v.optional(seconds, STALE_AFTER_S),
  recoveryDelay_s: v.optional(seconds, 30),
  dryRun: v.optional(v.boolean("must be true or false"), false),
});

/**
 * Unlocks the jobs and queues of dead workers and forgets these workers, at most 1,000 in a sweep.
 * A recovered job keeps its attempts, says in last_error what happened, and runs no earlier than
 * now + delay. Throws InputError for an unknown option or a value out of range.
 */
export async function sweepStaleWorkers(
  db: Database,
  options: SweepOptions = {},
): Promise<SweepResult> {
  const { sweepThreshold_s, recoveryDelay_s, dryRun } = validate(optionsSchema, options);
  const hasHeartbeats = await hasWorkerTable(db);
  const dead = await findDeadWorkers(db, hasHeartbeats, sweepThreshold_s);
  const staleWorkers = dead.filter((worker) => worker.isStale).map((worker) => worker.workerId);
  const orphanWorkers = dead.filter((worker) => !worker.isStale).map((worker) => worker.workerId);
  let recovered = { jobs: "0", queues: "0" };
  if (!dryRun && dead.length > 0) {
    const statement = hasHeartbeats ? recoverSql : recoverOrphansSql;
    const stale = hasHeartbeats ? [staleWorkers] : [];
    const values = [orphanWorkers, sweepThreshold_s, recoveryDelay_s, ...stale];
    [recovered = recovered] = await contendedQuery<typeof recovered>(db, statement, values);
  }
  return {
    dryRun,
    hasHeartbeats,
    staleWorkers,
    orphanWorkers,
    lockedJobs: dead.reduce((sum, worker) => sum + worker.lockedJobs, 0),
    lockedQueues: dead.reduce((sum, worker) => sum + worker.lockedQueues, 0),
    recoveredJobs: Number(recovered.jobs),
    recoveredQueues: Number(recovered.queues),
  };
}

// Attempts stay: the interrupted one counts, or a job that kills its worker would never exhaust.
// The age of a lock is tested again, so that what was locked meanwhile stays locked.
const release = (schema: string) => `
  jobs as (
    update ${schema}._private_jobs as jobs
    set
      locked_at = null,
      locked_by = null,
      run_at = greatest(jobs.run_at, now() + $3::float8 * interval '1 second'),
      last_error = format(
        case when dead.is_stale
          then 'Recovered: worker %1$s stopped without finishing attempt %2$s'
          else 'Recovered: attempt %2$s was locked since %3$s by %1$s, which sends no heartbeat'
        end,
        jobs.locked_by, jobs.attempts, jobs.locked_at
      ),
      updated_at = now()
    from dead
    where jobs.locked_by = dead.id
    and (dead.is_stale or jobs.locked_at < now() - $2::float8 * interval '1 second')
    and not jobs.is_available
    returning 1
  ), queues as (
    update ${schema}._private_job_queues as queues
    set locked_at = null, locked_by = null
    from dead
    where queues.locked_by = dead.id
    and (dead.is_stale or queues.locked_at < now() - $2::float8 * interval '1 second')
    returning 1
  )
  select (select count(*) from jobs) as jobs, (select count(*) from queues) as queues`;

// Deleting the row asks once more, under its lock, whether the worker is still silent.
const recoverSql: Statement = (schema) => `
  with forgotten as (
    delete from ${schema}._private_workers as workers
    where workers.id = any($4::text[])
    and workers.last_heartbeat_at < now() - $2::float8 * interval '1 second'
    returning workers.id
  ), dead as (
    select id, true as is_stale from forgotten
    union all
    select orphan.id, false
    from unnest($1::text[]) as orphan (id)
    where not exists (
      select from ${schema}._private_workers as workers where workers.id = orphan.id
    )
  ), ${release(schema)}`;

const recoverOrphansSql: Statement = (schema) => `
  with dead as (
    select orphan.id, false as is_stale from unnest($1::text[]) as orphan (id)
  ), ${release(schema)}`;
