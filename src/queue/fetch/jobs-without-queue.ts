// SQL that finds jobs without a named queue through an index and locks them.
import { hasNoFlagOf, isOfKnownTask, isReady } from "../sql/eligible.ts";
import { HEAD_JOBS, isForFastMode, type ReadyForm, type ReadyParameters } from "./fetch-form.ts";

/*
 * Returns a common table expression with the priority `first` and all larger priorities of available jobs, which a
 * loose index scan finds. The statement then searches each priority separately: jobs_main_index begins with the
 * priority, so a search by `run_at <= now()` alone would read every scheduled job of every priority. The expression
 * does not check whether a priority has due jobs, because the dead entries of the index would then be scanned twice: by
 * the check and by the search. Without `queues` it reads only jobs_no_queue_index, because to read a second index would
 * cost 50 bytes of WAL for each job if data checksums are on.
 */
export const priorityLevels = (s: string, queues: boolean, first: string) => `level (priority) as (
  select ${first}::smallint
  union all
  select (select j.priority from ${s}._private_jobs j
    where j.is_available ${queues ? "" : "and job_queue_id is null"} and j.priority > level.priority
    order by j.priority limit 1)
  from level where level.priority is not null
)`;

/** Returns the query. It skips rows that another transaction has locked, and its limit does not count these rows. */
export const jobsWithoutQueue = (
  s: string,
  form: ReadyForm,
  $: ReadyParameters,
  columns: string,
): string => `
  select f.* from level cross join lateral (
    select ${columns} from ${s}._private_jobs j
    where ${isReady("j")} and j.job_queue_id is null and j.priority = level.priority
      and j.run_at >= case when level.priority = ${$.priority}::smallint
                           then pg_catalog.to_timestamp(${$.runAt}::float8) else '-infinity' end
      and ${isOfKnownTask(s, "j", { ...$, pauses: form.pauses })} ${kindTest(s, form, $)} ${notLeftOut(form, $)}
    order by j.run_at limit ${$.want}::int for update skip locked) f
  where level.priority is not null limit ${$.want}::int
`;

/** Returns the conditions that leave out jobs with forbidden flags, excluded jobs and the jobs of excluded queues. */
export const notLeftOut = ({ flags, excluded }: ReadyForm, $: ReadyParameters, job = "j"): string =>
  `${flags ? `and ${hasNoFlagOf(job, $.flags)}` : ""}${
    excluded === true
      ? ` and ${job}.id <> all(${$.excluded}::bigint[]) and (-${job}.job_queue_id::bigint = any(${$.excluded}::bigint[])) is not true`
      : ""
  }`;

// The fast mode takes its own jobs, so each job for the safe mode is eventually among the first HEAD_JOBS jobs. Jobs of
// other workers' tasks are not counted, because they may wait indefinitely.
const kindTest = (s: string, form: ReadyForm, $: ReadyParameters) => {
  const { free } = form;
  if (free === "all") return "";
  if (free === "fast") return `and ${isForFastMode("j")}`;
  return `and j.ctid = any(array(
        select head.ctid from (
          select h.ctid, ${isForFastMode("h")} as is_fast from ${s}._private_jobs h
          where ${isReady("h")} and h.job_queue_id is null and h.priority = level.priority
            and ${isOfKnownTask(s, "h", { ...$, pauses: form.pauses })} ${notLeftOut(form, $, "h")}
            order by h.run_at limit ${HEAD_JOBS}) head
        where not head.is_fast))`;
};
