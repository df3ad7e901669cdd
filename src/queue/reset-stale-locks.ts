// The rule that all workers on a schema share, stock ones included: a lock older than 4 hours is
// stale, whoever holds it. It is the last resort for locks that no heartbeat stands for, and for a
// worker that beats but whose jobs never end.
import { type Database, query, type Statement } from "../database/database.ts";

export interface ResetLocks {
  readonly jobs: number;
  readonly queues: number;
}

const STALE = "interval '4 hours'";

// A row that somebody works on at this moment is skipped: the next reset comes in minutes.
const resetSql: Statement = (s) => `
with stale as materialized (
  select id from ${s}._private_jobs
  where locked_at < now() - ${STALE} and not is_available
  order by id for update skip locked
), jobs as (
  update ${s}._private_jobs as jobs
  set locked_at = null, locked_by = null, run_at = greatest(run_at, now()), updated_at = now(),
    last_error = format(
      'Recovered: worker %s held attempt %s for more than 4 hours', jobs.locked_by, jobs.attempts)
  where id = any(array(select id from stale))
  returning 1
), stale_queue as materialized (
  select id from ${s}._private_job_queues
  where locked_at < now() - ${STALE}
  order by id for update skip locked
), queues as (
  update ${s}._private_job_queues set locked_at = null, locked_by = null
  where id = any(array(select id from stale_queue))
  returning 1
), total as (
  select (select count(*)::int from jobs) as jobs, (select count(*)::int from queues) as queues
)
select total.jobs, total.queues,
  case when total.jobs + total.queues > 0 then pg_notify(
    'jobs:insert', json_build_object('r', random(), 'count', greatest(total.jobs, 1))::text) end
from total`;

/** Clears job and queue locks older than 4 hours; attempts stay as they are. */
export async function resetStaleLocks(db: Database): Promise<ResetLocks> {
  const [row] = await query<{ jobs: number; queues: number }>(db, resetSql);
  return { jobs: row?.jobs ?? 0, queues: row?.queues ?? 0 };
}

const forgetSql: Statement = (s) => `
delete from ${s}._private_workers where last_heartbeat_at < now() - ${STALE}`;

/** Forgets workers that no sweep was allowed to recover: what they held has been reset by now. */
export async function forgetSilentWorkers(db: Database): Promise<void> {
  await query(db, forgetSql);
}
