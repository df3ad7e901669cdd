// Finds when the next job becomes due, so that an idle worker fetches then, and not only at its next poll.
import { type Database, query } from "../../database/database.ts";

// The index of jobs is searched separately for each priority, as in jobs-without-queue.ts. The search includes jobs of
// tasks that this worker does not have. Such a job causes one fetch in vain, but a search without these jobs would have
// to read all of them.
const sql = (s: string) => `
with recursive level (priority) as (
  (select priority from ${s}._private_jobs where is_available order by priority limit 1)
  union all
  select (select j.priority from ${s}._private_jobs j
    where j.is_available and j.priority > level.priority order by j.priority limit 1)
  from level where level.priority is not null
)
select extract(epoch from pg_catalog.min(next.run_at) - pg_catalog.now())::float8 * 1000::float8 as wait_ms
from level cross join lateral (
  select j.run_at from ${s}._private_jobs j
  where j.is_available and j.priority = level.priority
    and j.run_at > pg_catalog.to_timestamp($1::float8)
    and j.run_at < pg_catalog.now() + interval '1 day'
  order by j.run_at limit 1) next`;

/**
 * Finds the first job whose `run_at` is after `since_s` (seconds since the epoch). Returns the milliseconds until the
 * job is due, by the database's clock: a negative number if it is due already; null if there is no such job within a
 * day.
 */
export async function nextRunAt(db: Database, since_s: number): Promise<number | null> {
  const rows = await query<{ wait_ms: number | null }>(db, sql, [since_s]);
  return rows[0]?.wait_ms ?? null;
}
