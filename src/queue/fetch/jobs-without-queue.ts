// SQL that finds ready jobs without a named queue through an index, and locks these jobs.
import { hasNoFlagOf, isOfKnownTask, isReady } from "../sql/eligible.ts";
import { HEAD_JOBS, isForFastMode, type ReadyForm, type ReadyParameters } from "./fetch-form.ts";

/*
 * A loose index scan for the priority `first` and all larger priorities of available jobs. Each priority is then
 * searched separately, because jobs_main_index begins with the priority: a search by `run_at <= now()` alone would read
 * all scheduled jobs. Whether a priority has due jobs is not checked here, because the dead entries of the index would
 * be read twice. Without `queues`, only jobs_no_queue_index is read: reads of a second index would cost more WAL.
 */
export const priorityLevels = (s: string, queues: boolean, first: string) => `level (priority) as (
  select ${first}::smallint
  union all
  select (select j.priority from ${s}._private_jobs j
    where j.is_available ${queues ? "" : "and job_queue_id is null"} and j.priority > level.priority
    order by j.priority limit 1)
  from level where level.priority is not null
)`;

/** Returns the query. The limit does not count rows that another transaction has locked. */
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

/** Returns the conditions for forbidden flags, excluded jobs and excluded queues. */
export const notLeftOut = ({ flags, excluded }: ReadyForm, $: ReadyParameters, job = "j"): string =>
  `${flags ? `and ${hasNoFlagOf(job, $.flags)}` : ""}${
    excluded === true
      ? ` and ${job}.id <> all(${$.excluded}::bigint[]) and (-${job}.job_queue_id::bigint = any(${$.excluded}::bigint[])) is not true`
      : ""
  }`;

// In a worker with both modes, the safe mode searches only the first HEAD_JOBS jobs of each priority. The fast mode
// takes its own jobs, so each job for the safe mode is eventually among the first HEAD_JOBS jobs. Jobs of other
// workers' tasks are not counted, because these jobs may wait indefinitely.
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
