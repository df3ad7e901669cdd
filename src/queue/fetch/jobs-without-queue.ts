// Jobs without a named queue: found by an index and locked in one go.
import { hasNoFlagOf, isOfKnownTask, isReady } from "../sql/eligible.ts";
import { HEAD_JOBS, isForFastMode, type ReadyForm, type ReadyParameters } from "./fetch-form.ts";

/*
 * jobs_main_index leads with priority, so `run_at <= now()` alone does not bound a scan: it would
 * walk every scheduled job of every priority. We jump from priority to priority (a loose index scan)
 * and probe each one, from that of the cursor on: to ask first whether it still has jobs would walk
 * over its dead entries twice, and what another connection commits meanwhile is then locked in vain.
 */
export const priorityLevels = (
  s: string,
  form: ReadyForm,
  $: ReadyParameters,
): string => `level (priority) as (
  select ${$.priority}::smallint
  union all
  select (select j.priority from ${s}._private_jobs j
    where j.is_available ${onOneIndex(form)} and j.priority > level.priority
    order by j.priority limit 1)
  from level where level.priority is not null
)`;

/**
 * Locked while the limit counts, so that two connections that fetch at once take different jobs
 * instead of both the same.
 */
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
      and ${isOfKnownTask(s, "j", $.identifiers)} ${kindTest(s, form, $)} ${flagTest(form, $)}
    order by j.run_at limit ${$.want}::int for update skip locked) f
  where level.priority is not null limit ${$.want}::int
`;

/** For both kinds of jobs: the condition, where there are forbidden flags. */
export const flagTest = ({ flags }: ReadyForm, $: ReadyParameters, job = "j"): string =>
  flags ? `and ${hasNoFlagOf(job, $.flags)}` : "";

// The fast mode works off what stands before a job of the safe mode, until that is at the head, too.
// Only of jobs that this worker takes: those of others may stand there for ever.
const kindTest = (s: string, form: ReadyForm, $: ReadyParameters) => {
  const { free } = form;
  if (free === "all") return "";
  if (free === "fast") return `and ${isForFastMode("j")}`;
  return `and j.ctid = any(array(
        select head.ctid from (
          select h.ctid, ${isForFastMode("h")} as is_fast from ${s}._private_jobs h
          where ${isReady("h")} and h.job_queue_id is null and h.priority = level.priority
            and ${isOfKnownTask(s, "h", $.identifiers)} ${flagTest(form, $, "h")}
            order by h.run_at limit ${HEAD_JOBS}) head
        where not head.is_fast))`;
};

// Without queued jobs all can stay on jobs_no_queue_index. Reading a second index costs 50 B of WAL
// a job: full-page images of its hint bits, where data checksums are on.
const onOneIndex = ({ queues }: ReadyForm) => (queues ? "" : "and job_queue_id is null");
