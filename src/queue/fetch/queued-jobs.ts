// Jobs in named queues. A queue is locked once for a run of its jobs, which follow one after another:
// without that a queue does one job a round trip.
//
//   candidates ──their queues──▶ queue locks ──in order──▶ runs ──row locks──▶ taken
import { isInFreeQueue, isOfKnownTask, isReady } from "../sql/eligible.ts";
import { HEAD_JOBS, isForFastMode, type ReadyForm, type ReadyParameters } from "./fetch-form.ts";
import { flagTest } from "./jobs-without-queue.ts";

/*
 * `last_without_queue`: where jobs without a queue already fill the fetch, queued jobs behind the last
 * of them cannot be part of it; so the scan for them (no index has them alone) ends there. Before its
 * moment, not with it: a million jobs added at once have the same one.
 * `queue_lock`: only queues of candidates are locked, in id order, so that two fetches cannot wait
 * for each other in a ring.
 * `queue_run`: the candidates are from our snapshot; what another worker did with a queue since then
 * is seen by the row locks (`locked_run`), which test again whether a job is available, and due: it
 * may have failed.
 * `left_out`: what could not be locked, because somebody else has its row, or because it was taken and
 * given back since our snapshot: this statement cannot update the row that it has become. Nothing behind
 * it in its queue is taken. Where it has ended, that costs the next fetch a look.
 */
export const queuedJobs = (
  s: string,
  form: ReadyForm,
  $: ReadyParameters,
): string => `, last_without_queue as (
  select priority, run_at from without_queue
  where (select pg_catalog.count(*) from without_queue) >= ${$.want}::int
  order by priority desc, run_at desc limit 1
), ${form.queued === "fast" ? candidatesOfMoreQueues(s, form, $) : plainCandidates(s, form, $)},
wanted_queues as materialized (
  select ${form.queued === "all" ? "pg_catalog.array_agg(distinct job_queue_id)" : queuesByTheirHead(form)} as ids
  from candidate
), queue_lock as materialized (
  select id from ${s}._private_job_queues
  where is_available and id = any((select ids from wanted_queues)::int[])
  order by id for update skip locked
), queue_run as materialized (${form.queued === "fast" ? runsOfFastJobs($) : runs($)}
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

const RUN = "ctid, id, job_queue_id, priority, run_at";

// Else the scan for them would walk over all dead entries of the index at each fetch. The safe mode knows
// it from its last fetch.
const someQueueIsFree = (s: string) =>
  `exists (select from ${s}._private_job_queues where is_available)`;

/** Up to `most` queued jobs; `also`: one more condition. */
const candidates = (
  s: string,
  form: ReadyForm,
  $: ReadyParameters,
  most = `${$.want}::int`,
  also = "",
) => `
  select c.* from level cross join lateral (
    select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at
      ${form.queued === "all" ? "" : `, not ${isForFastMode("j")} as is_safe`}
    from ${s}._private_jobs j
    where ${isReady("j")} and j.job_queue_id is not null and j.priority = level.priority
      and j.run_at < coalesce((select case when last_without_queue.priority > level.priority
          then 'infinity' else last_without_queue.run_at end from last_without_queue), 'infinity')
      and ${isOfKnownTask(s, "j", $.identifiers)}
      and ${isInFreeQueue(s, "j")}
      ${form.queued === "fast" ? `and ${isInShare("j.job_queue_id", $)}` : ""} ${also}
      ${flagTest(form, $)}
    order by j.run_at limit ${most}) c
  where level.priority is not null
    and level.priority <= coalesce((select priority from last_without_queue), 32767)${
      form.queued === "fast" ? ` and ${someQueueIsFree(s)}` : ""
    }
    limit ${most}`;

const atLeast = (jobs: number, $: ReadyParameters) => `greatest(${$.want}::int, ${jobs})`;

const plainCandidates = (s: string, form: ReadyForm, $: ReadyParameters) =>
  `candidate as materialized (${
    form.queued === "safe" ? candidates(s, form, $, atLeast(HEAD_JOBS, $)) : candidates(s, form, $)
  })`;

const isInShare = (queueId: string, $: ReadyParameters) =>
  `${queueId} % ${$.shares}::int = ${$.share}::int`;

/*
 * What row locks hold looks free to the next fetch, so a long queue would stand at the head for ever
 * and keep all slots but one idle. Where the first candidates are of fewer queues than there are
 * slots, those of other queues are looked for behind them, and none gets more than its part.
 */
const candidatesOfMoreQueues = (s: string, form: ReadyForm, $: ReadyParameters) => `
first_candidate as materialized (${candidates(s, form, $)}
), first_queues as materialized (
  select pg_catalog.count(*) as jobs, pg_catalog.array_agg(distinct job_queue_id) as ids from first_candidate
), few_queues as materialized (
  select jobs >= ${$.want}::int and pg_catalog.cardinality(ids) < ${$.slots}::int as are_few,
    jobs >= ${$.want}::int and pg_catalog.cardinality(ids) < ${$.slots}::int and exists (
      select from ${s}._private_job_queues q
      where q.is_available and ${isInShare("q.id", $)} and q.id <> all(ids)) as has_others
  from first_queues
), candidate as materialized (
  select * from first_candidate union all
  select * from (${candidates(s, form, $, atLeast(HEAD_JOBS, $), OF_OTHER_QUEUES)}
  ) of_other_queues where (select has_others from few_queues)
)`;

const OF_OTHER_QUEUES = "and j.job_queue_id <> all((select ids from first_queues)::int[])";

// Whoever locks a queue in vain is in the way of others, who would go idle then: the safe mode locks
// those that begin with a job of its own, the fast mode the others.
const queuesByTheirHead = ({ queued }: ReadyForm) => `
  case when coalesce(pg_catalog.bool_or(is_safe), false) then
    array(select job_queue_id from (
      select distinct on (job_queue_id) job_queue_id, is_safe from candidate
      order by job_queue_id, priority, run_at, id) head
    where ${queued === "safe" ? "" : "not"} is_safe)
  else ${queued === "safe" ? "'{}'" : "pg_catalog.array_agg(distinct job_queue_id)"} end`;

// A run has a limit, or one queue would keep a whole fetch's jobs from other workers.
const runs = ($: ReadyParameters) => `
  select ${RUN} from (
    select c.*, pg_catalog.row_number() over (
      partition by job_queue_id order by priority, run_at, id) as place
    from candidate c where job_queue_id in (select id from queue_lock)) ranked
  where place <= greatest(${$.run}::int,
      ${$.want}::int / (select greatest(pg_catalog.count(*), 1) from queue_lock))`;

// Up to a job of the safe mode. Mostly there is none, and there are queues enough; then they need no
// order here.
const runsOfFastJobs = ($: ReadyParameters) => `
  select ${RUN} from candidate
  where job_queue_id in (select id from queue_lock) and not (${NEEDS_ORDER})
  union all
  select ${RUN} from (
    select c.*, pg_catalog.row_number() over in_order as place,
      pg_catalog.bool_or(is_safe) over (in_order rows unbounded preceding) as follows_safe
    from candidate c where job_queue_id in (select id from queue_lock)
    window in_order as (partition by job_queue_id order by priority, run_at, id)) ranked
  where (${NEEDS_ORDER}) and not follows_safe
    and place <= case when (select are_few from few_queues) then greatest(${$.want}::int / (
        select pg_catalog.cardinality(ids) + (exists (select from without_queue))::int from wanted_queues), 1)
      else ${$.want}::int end`;

const NEEDS_ORDER = `(select coalesce(pg_catalog.bool_or(is_safe), false) from candidate)
    or (select are_few from few_queues)`;
