// Finds the priorities that available jobs have. A job is available if it is unlocked and has attempts left. The index
// from which workers fetch begins with the priority, so each priority is found by one probe of this index. Statements
// that read jobs in order of time need the priorities, because they read a separate part of the index for each
// priority.
import { type Database, query, type Statement } from "../../database/database.ts";

/** The maximum number of priorities that are read. If MAX_PRIORITIES are found, there may be more. */
export const MAX_PRIORITIES = 32;

/**
 * Returns a common table expression for `with recursive`. Its rows are the priorities in ascending order, numbered by
 * `place` from 1 on. If there are 1 to 31 priorities, one more row follows, whose `priority` is null.
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

/** Returns the priorities, ascending; null if there are 32 or more. */
export async function readPriorities(db: Database): Promise<readonly number[] | null> {
  const rows = await query<{ priority: number }>(db, prioritiesSql);
  return rows.length < MAX_PRIORITIES ? rows.map(({ priority }) => priority) : null;
}

const prioritiesSql: Statement = (s) => `
  with recursive ${priorities(s)}
  select priority from priorities where priority is not null order by priority`;
