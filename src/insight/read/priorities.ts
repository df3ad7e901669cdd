// The priorities of available jobs, with one index probe for each. The index from which jobs are fetched begins with
// the priority, so reads in order of time need a probe for each priority.
import { type Database, query, type Statement } from "../../database/database.ts";

/** The maximum number of priorities that are read. If there may be more, callers that need all of them use samples. */
export const MAX_PRIORITIES = 32;

/**
 * Returns a recursive part of a statement: `with recursive ${priorities(s)}, …`. If there are fewer than the maximum,
 * the last row is null.
 */
export const priorities = (s: string): string => `priorities (priority, place) as (
    (select priority, 1 from ${s}._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from ${s}._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < ${MAX_PRIORITIES}
  )`;

/** Returns the priorities in order; null if there are 32 or more. */
export async function readPriorities(db: Database): Promise<readonly number[] | null> {
  const rows = await query<{ priority: number }>(db, prioritiesSql);
  return rows.length < MAX_PRIORITIES ? rows.map(({ priority }) => priority) : null;
}

const prioritiesSql: Statement = (s) => `
  with recursive ${priorities(s)}
  select priority from priorities where priority is not null order by priority`;
