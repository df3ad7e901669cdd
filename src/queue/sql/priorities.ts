// The priorities that available jobs have, one index probe each. The index that jobs are taken from
// begins with the priority, so whatever goes by time asks it once for each of them.
import { type Database, query, type Statement } from "../../database/database.ts";

/** More are not asked: then the last stands for itself only, and who needs all of them samples. */
export const MOST_PRIORITIES = 32;

/**
 * A name that stands for a recursive part of a statement: `with recursive ${priorities(s)}, …`. Where
 * there are fewer than the most, the last row is null.
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

/** In order; null: too many to ask for each. */
export async function readPriorities(db: Database): Promise<readonly number[] | null> {
  const rows = await query<{ priority: number }>(db, prioritiesSql);
  return rows.length < MOST_PRIORITIES ? rows.map(({ priority }) => priority) : null;
}

const prioritiesSql: Statement = (s) => `
  with recursive ${priorities(s)}
  select priority from priorities where priority is not null order by priority`;
