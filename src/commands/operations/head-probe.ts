// A look at the head of each priority. What an operation has taken away there leaves dead entries in
// the index from which workers take jobs, and who comes first walks over all of them and marks them:
// after 200,000 jobs that took a fetch 1.1 s. So the operation goes first itself, after each batch.
import { type Database, query } from "../../database/database.ts";
import { ageMs } from "../../queue/sql/moments.ts";
import { priorities } from "../../queue/sql/priorities.ts";

/** How long the oldest ready job has been waiting, milliseconds; null: there is none. */
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
