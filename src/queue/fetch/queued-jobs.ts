// SQL that finds jobs in named queues. A queue is locked once for a run of consecutive jobs; without runs, a queue
// would complete at most one job in each round trip.
//   candidate ──its queue──▶ queue_lock ──in order──▶ queue_run ──row locks──▶ locked_run ──without left_out──▶ picked
import { isInFreeQueue, isOfKnownTask, isReady } from "../sql/eligible.ts";
import type { ReadyForm, ReadyParameters } from "./fetch-form.ts";
import { notLeftOut } from "./jobs-without-queue.ts";

/*
 * `last_without_queue`: the last of the jobs without a named queue, if these jobs already fill the fetch. The scan for
 * candidates ends before the priority and time of this job. Without this end, the scan could read all due jobs: its
 * index also has the jobs without a named queue. Candidates with exactly this priority and time are not read, because a
 * million jobs may have the same time.
 * `queue_lock`: locks queues in id order and without waiting, so that fetches cannot deadlock.
 * `locked_run`: other sessions may have changed the jobs since the snapshot, so each job is checked again.
 * `left_out`: jobs of `queue_run` that another session has locked or changed. This statement cannot update the new
 * version of a row, so a changed job is left out even if it is available. Later jobs of the queue must not overtake
 * such a job.
 */
export const queuedJobs = (
  s: string,
  form: ReadyForm,
  $: ReadyParameters,
): string => `, last_without_queue as (
  select priority, run_at from without_queue
  where (select pg_catalog.count(*) from without_queue) >= ${$.want}::int
  order by priority desc, run_at desc limit 1
), candidate as materialized (${candidates(s, form, $)}
), wanted_queues as materialized (
  select pg_catalog.array_agg(distinct job_queue_id) as ids from candidate
), queue_lock as materialized (
  select id from ${s}._private_job_queues
  where is_available and id = any((select ids from wanted_queues)::int[])
  order by id for update skip locked
), queue_run as materialized (${runs(s, $)}
), locked_run as materialized (
  select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at from ${s}._private_jobs j
  where j.ctid = any(array(select ctid from queue_run)) and ${isReady("j")}
  for update skip locked
), left_out as materialized (
  select * from queue_run where ctid = any(array(
    select ctid from queue_run except select ctid from locked_run))
), picked as materialized (
  select * from (select * from without_queue union all select * from locked_run run
    where not exists (select from left_out where left_out.job_queue_id = run.job_queue_id
      and (left_out.priority, left_out.run_at, left_out.id) < (run.priority, run.run_at, run.id))) both_kinds
  order by priority, run_at, id limit ${$.want}::int
)`;

const candidates = (s: string, form: ReadyForm, $: ReadyParameters) => `
  select c.* from level cross join lateral (
    select j.ctid, j.id, j.job_queue_id, j.task_id, j.priority, j.run_at
    from ${s}._private_jobs j
    where ${isReady("j")} and j.job_queue_id is not null and j.priority = level.priority
      and j.run_at < coalesce((select case when last_without_queue.priority > level.priority
          then 'infinity' else last_without_queue.run_at end from last_without_queue), 'infinity')
      and ${isOfKnownTask(s, "j", { ...$, pauses: form.pauses })}
      and ${isInFreeQueue(s, "j", form.limits === true ? ($.limited ?? null) : null)}
      ${notLeftOut(form, $)}
    order by j.run_at limit ${$.want}::int) c
  where level.priority is not null
    and level.priority <= coalesce((select priority from last_without_queue), 32767)
    limit ${$.want}::int`;

// The number of jobs in a run is limited, so that one of several queues cannot fill a large fetch. The duration of a
// run is limited, so that its last jobs are not locked long before they start.
const runs = (s: string, $: ReadyParameters) => `
  select ctid, id, job_queue_id, priority, run_at from (
    select c.*, pg_catalog.row_number() over in_order as place,
      pg_catalog.sum(coalesce(speed.share, 'infinity')) over in_order as part
    from candidate c left join (
      select t.id, (${$.shares}::float8[])[pg_catalog.array_position(${$.identifiers}::text[], t.identifier)] as share
      from ${s}._private_tasks t where t.identifier = any(${$.identifiers}::text[])
    ) speed on speed.id = c.task_id
    where job_queue_id in (select id from queue_lock)
    window in_order as (partition by job_queue_id order by priority, run_at, c.id
      rows unbounded preceding)) ranked
  where place = 1 or part <= 1::float8 and place <= greatest(${$.run}::int,
      ${$.want}::int / (select greatest(pg_catalog.count(*), 1) from queue_lock))`;
