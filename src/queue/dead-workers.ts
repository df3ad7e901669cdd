// Which workers are dead without having said goodbye, and what they still hold.
//
//   stale:  has a heartbeat row, but no heartbeat for the threshold
//   orphan: holds locks, has no heartbeat row, and took its last lock before the threshold
import type { Database, Statement } from "../database/database.ts";
import { query } from "../database/database.ts";

export interface DeadWorker {
  readonly workerId: string;
  readonly isStale: boolean;
  readonly lockedJobs: number;
  readonly lockedQueues: number;
}

interface DeadWorkerRow {
  readonly worker_id: string;
  readonly is_stale: boolean;
  readonly locked_jobs: string;
  readonly locked_queues: string;
}

/** At most 1,000 dead workers, ascending by id. Without heartbeats all of them are orphans. */
export async function findDeadWorkers(
  db: Database,
  hasHeartbeats: boolean,
  threshold_s: number,
): Promise<DeadWorker[]> {
  const statement = hasHeartbeats ? deadSql : lockHoldersSql;
  const rows = await query<DeadWorkerRow>(db, statement, [threshold_s]);
  return rows.map((row) => ({
    workerId: row.worker_id,
    isStale: row.is_stale,
    lockedJobs: Number(row.locked_jobs),
    lockedQueues: Number(row.locked_queues),
  }));
}

// "not is_available" lets the optional index on locked jobs serve (see list-locked-workers).
const locks = (schema: string) => `
  select locked_by, locked_at, true as is_job
  from ${schema}._private_jobs
  where locked_by is not null and locked_at is not null and not is_available
  union all
  select locked_by, locked_at, false
  from ${schema}._private_job_queues
  where locked_by is not null and locked_at is not null`;

// The newest lock decides about an orphan: who took one just now is alive, whatever else it holds.
const deadSql: Statement = (schema) => `
  with locks as materialized (${locks(schema)}),
  dead as (
    select id, true as is_stale
    from ${schema}._private_workers
    where last_heartbeat_at < now() - $1::float8 * interval '1 second'
    union all
    select locked_by, false
    from locks
    where not exists (
      select from ${schema}._private_workers as workers where workers.id = locks.locked_by
    )
    group by locked_by
    having max(locked_at) < now() - $1::float8 * interval '1 second'
  )
  select
    dead.id as worker_id, dead.is_stale,
    count(*) filter (where locks.is_job) as locked_jobs,
    count(*) filter (where not locks.is_job) as locked_queues
  from dead
  left join locks on locks.locked_by = dead.id
  group by dead.id, dead.is_stale
  order by dead.id
  limit 1000`;

const lockHoldersSql: Statement = (schema) => `
  select
    locked_by as worker_id, false as is_stale,
    count(*) filter (where is_job) as locked_jobs,
    count(*) filter (where not is_job) as locked_queues
  from (${locks(schema)}) as locks
  group by locked_by
  having max(locked_at) < now() - $1::float8 * interval '1 second'
  order by locked_by
  limit 1000`;
