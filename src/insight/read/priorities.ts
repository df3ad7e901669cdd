// The priorities of available jobs, with one index probe each. The index from which jobs are taken begins
// with the priority, so reads in order of time need one probe for each of them.
import { type Database, query, type Statement } from "../../database/database.ts";

/** Further ones are not read: callers that need all of them use samples. */
export const MOST_PRIORITIES = 32;

/**
 * A recursive part of a statement: `with recursive ${priorities(s)}, …`. If there are fewer than the
 * maximum, the last row is null.
 */
export const priorities = (s: string): string => `priorities (priority, place) as (
    (select priority, 1 from ${s}._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from ${s}._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < ${MOST_PRIORITIES}
  )`;

/** In order; null if there are too many. */
export async function readPriorities(db: Database): Promise<readonly number[] | null> {
  const rows = await query<{ priority: number }>(db, prioritiesSql);
  return rows.length < MOST_PRIORITIES ? rows.map(({ priority }) => priority) : null;
}

const prioritiesSql: Statement = (s) => `
  with recursive ${priorities(s)}
  select priority from priorities where priority is not null order by priority`;
