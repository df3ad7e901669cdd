// The priorities that waiting jobs have, each found by a step over the index that jobs are taken from.

/** With more of them a loop over all would no longer be short. */
const MOST = 32;

/** A part of a `with recursive`: `priorities (priority)`, ascending, without the null at its end. */
export const priorities = (s: string): string => `known_priorities (priority, place) as (
    (select jobs.priority, 1 from ${s}._private_jobs as jobs where jobs.is_available
      order by jobs.priority limit 1)
    union all
    select (
      select jobs.priority from ${s}._private_jobs as jobs
      where jobs.is_available and jobs.priority > known_priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from known_priorities where known_priorities.priority is not null and place < ${MOST}
  ), priorities as (
    select priority from known_priorities where priority is not null
  )`;
