// Lists the workers that hold locks, whether or not they send heartbeats.
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { isLockedByWorker } from "../../queue/sql/lock.ts";

/** A worker that holds locks. */
export interface LockedWorker {
  /** The id of the worker, as in `locked_by`. */
  readonly workerId: string;
  /** The number of jobs that the worker has locked. */
  readonly lockedJobs: number;
  /** The number of named queues that the worker has locked. */
  readonly lockedQueues: number;
}

interface LockedWorkerRow {
  readonly worker_id: string;
  readonly locked_jobs: string;
  readonly locked_queues: string;
}

/** Returns at most 1,000 workers that hold locks, ordered by id. Reads all jobs unless the index `running` exists. */
export async function listLockedWorkers(db: Database): Promise<LockedWorker[]> {
  const rows = await query<LockedWorkerRow>(db, lockedWorkersSql);
  return rows.map((row) => ({
    workerId: row.worker_id,
    lockedJobs: Number(row.locked_jobs),
    lockedQueues: Number(row.locked_queues),
  }));
}

// The planner uses the optional index `running` only because the condition repeats the index's predicate, "locked_at
// is not null". The condition "not is_available" excludes no job: it is true for every locked job.
const lockedWorkersSql: Statement = (schema) => `
  select
    worker_id,
    pg_catalog.count(*) filter (where is_job)::text as locked_jobs,
    pg_catalog.count(*) filter (where not is_job)::text as locked_queues
  from (
    select locked_by as worker_id, true as is_job
    from ${schema}._private_jobs
    where locked_by is not null and locked_at is not null and not is_available
    union all
    select locked_by, false
    from ${schema}._private_job_queues as queues
    where locked_by is not null and ${isLockedByWorker("queues")}
  ) as locks
  group by worker_id
  order by worker_id
  limit 1000`;
