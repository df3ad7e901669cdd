// For each of the first 32 priorities, reads the job that has been due longest. Jobs that an operation changes or
// deletes leave dead entries in the index from which workers fetch. The next reader has to read and mark all of them.
// After 200,000 jobs, one fetch took 1.1 s for this. So after batches that change jobs, the operation itself reads the
// index.
import { type Database, query } from "../../database/database.ts";
import { priorities } from "../../insight/read/priorities.ts";
import { ageMs } from "../../queue/sql/moments.ts";

/**
 * Returns for how long the oldest due job has been due, in milliseconds; null if no job is due. Only jobs that are
 * unlocked and have attempts left count.
 */
export async function probeHead(db: Database): Promise<number | null> {
  const [row] = await query<{ oldest_ms: number | null }>(db, probeSql);
  return row?.oldest_ms ?? null;
}

const probeSql = (s: string) => `
  with recursive ${priorities(s)}
  select ${ageMs("pg_catalog.min(head.run_at)")} as oldest_ms
  from priorities,
  lateral (
    select jobs.run_at from ${s}._private_jobs as jobs
    where jobs.is_available and jobs.priority = priorities.priority and jobs.run_at <= pg_catalog.now()
    order by jobs.run_at limit 1
  ) as head`;
