// For each of the 32 most urgent priorities, reads the job that has been due longest. Jobs that an operation changes
// or deletes leave old entries in the index from which workers fetch. The next statement that reads this part of the
// index has to read all of these entries, and marks them as dead. After an operation on 200,000 jobs, a fetch needed
// 1.1 s for this work. So after batches that change jobs, the operation itself reads the index.
import { type Database, query } from "../../database/database.ts";
import { priorities } from "../../insight/read/priorities.ts";
import { ageMs } from "../../queue/sql/moments.ts";

/**
 * Returns the time since the earliest `run_at` of a due job, in milliseconds; null if no job is due. Jobs that are
 * locked or have no attempts left do not count, nor do jobs of less urgent priorities than these 32.
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
