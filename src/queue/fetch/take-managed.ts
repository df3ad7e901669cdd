// Takes ready jobs of managed queues: named queues under a limit (sql/slots.ts). Each run locks one of the queue's
// slots, and each job uses up one token of every rate of the queue.
//   candidates ──their queues──▶ free slots ──▶ tokens ──▶ jobs, in order, one run a slot ──▶ taken
import type { Statement } from "../../database/database.ts";
import { patternOf } from "../limits/managed-queues.ts";
import { isOfKnownTask, isReady } from "../sql/eligible.ts";
import { isPausedQueue, lockBy, takeBy } from "../sql/lock.ts";
import { aheadMs } from "../sql/moments.ts";
import { hasOpenSlots, slotCount, slotLock } from "../sql/slots.ts";
import type { ReadyForm, ReadyParameters } from "./fetch-form.ts";
import { type FetchedColumns, fetchedColumns, fetchedSource } from "./job-columns.ts";
import { notLeftOut, priorityLevels } from "./jobs-without-queue.ts";

/** The result of a fetch. `queue_ids`: the lock of each job's run (slotLock()). */
export interface ManagedTake extends FetchedColumns {
  /** The database's time at the fetch, in seconds since the epoch. */
  readonly now_s: number;
  /** Whether a new fetch may find more, because other sessions have locked or changed found slots or jobs. */
  readonly is_contended: boolean;
  /** Milliseconds until a rate or back-off lets a ready job start; null: no job waits for that, or jobs were taken. */
  readonly next_ms: number | null;
}

export interface ManagedForm extends Required<Pick<ReadyForm, "flags" | "excluded">> {
  /** Whether a limit of queues has a rate or a back-off. */
  readonly rates: boolean;
}

// The maximum number of ready jobs that one search finds, in all queues together.
const HEAD_JOBS = 1_000;

/** A run has at most RUN_JOBS / (number of the queue's slots) jobs, but at least one. */
const RUN_JOBS = 50;

// The maximum time from the taking of a token to the start of its job, in milliseconds. To allow for this delay, the
// capacity of a bucket is less than `burst`, unless `burst` is 1.
const LAPSE_MS = 100;

const TOKEN_MS = "(l.period_ms::float8 / l.rate::float8)";
/** The maximum number of tokens in the bucket of a limit `l`. */
const CAPACITY = `greatest(1::float8,
    l.burst::float8 - least(${LAPSE_MS}::float8, l.burst::float8 * ${TOKEN_MS} / 4::float8) / ${TOKEN_MS})`;
// The milliseconds until `tat`, the time at which a rate's bucket is full again. After the clock was set back or the
// rate was raised, `tat` can be far too late. The bucket then counts as having one token.
const AHEAD_MS = `(case when ${aheadMs("r.tat")} > l.burst::float8 * ${TOKEN_MS} + 60000::float8
    then (${CAPACITY} - 1::float8) * ${TOKEN_MS} else greatest(0::float8, ${aheadMs("r.tat")}) end)`;

const PARAMETERS: ReadyParameters = {
  ...{ identifiers: "$1", want: "$2", shares: "$4", flags: "$5" },
  ...{ priority: "'-32768'", runAt: "null", run: "null" },
};
const isKnownTask = (s: string) => isOfKnownTask(s, "j", { ...PARAMETERS, pauses: true });

/*
 * $1 text[] identifiers of this worker's tasks
 * $2 int maximum number of runs, $3 text the worker's id
 * $4 float8[] `shares` of ReadyParameters
 * then text[] forbidden flags (only in the form with flags)
 * then bigint[] ids of jobs and, negated, of queues that are left out (only in the form with `excluded`)
 * `candidate`: a subquery reads each job's queue. With a join, PostgreSQL may read all ready jobs to find one match.
 * `free_slot`: a queue may have ten thousand slots, so only up to four free slots are read for each wanted run.
 * `slot_lock`: each queue gets one run before any queue gets a second run. The statement waits for no slot or job, and
 * locks rates in order, so no two fetches deadlock.
 * `tokens`: rates are locked before they are read, so the values include the changes of all earlier fetches. If the row
 * of a rate is missing, no job of the queue is taken.
 * `left_out`: in queues with one slot, the candidates that were not locked. To keep the order, later jobs of the same
 * queue are not taken.
 */
const pickedSql = (s: string, { flags, rates, excluded }: ManagedForm) => {
  const form: ReadyForm = { queues: true, flags, pauses: true, free: "all", excluded };
  const $ = { ...PARAMETERS, excluded: flags ? "$6" : "$5" };
  return `
with recursive ${priorityLevels(s, form.queues, $.priority)}${rates ? slowQueues(s) : ""}, full_queue as materialized (
  select distinct busy.queue_id as id from ${s}._private_queue_slots busy where busy.locked_by is not null
  and not exists (select from ${s}._private_queue_slots one where one.queue_id = busy.queue_id and one.locked_by is null)
  union all
  select q.id from ${s}._private_pauses p join ${s}._private_job_queues q on q.queue_name = p.name
  where p.scope = 'queue' and ${isPausedQueue("q")}${
    rates ? "\n  union all select id from slow_queue" : ""
  }
), candidate as materialized (
  select c.* from level cross join lateral (
    select j.ctid, j.id, j.job_queue_id, j.task_id, j.priority, j.run_at from ${s}._private_jobs j
    where ${isReady("j")} and j.job_queue_id is not null and j.priority = level.priority
      and (j.job_queue_id in (select id from full_queue)) is not true and ${isKnownTask(s)}
      and (select ${hasOpenSlots("q")} from ${s}._private_job_queues q where q.id = j.job_queue_id)
      ${notLeftOut(form, $)}
    order by j.run_at limit ${HEAD_JOBS}) c
  where level.priority is not null limit ${HEAD_JOBS}
), queue_jobs as materialized (
  select job_queue_id as id, pg_catalog.count(*) as jobs from candidate group by job_queue_id
), free_slot as materialized (
  select queue_jobs.id as queue_id, free.slot, free.served_at, free.nth
  from queue_jobs cross join lateral (
    select slots.slot, slots.served_at, pg_catalog.row_number() over (order by slots.slot) as nth
    from (select slot, served_at from ${s}._private_queue_slots where queue_id = queue_jobs.id and locked_by is null
      order by slot limit least(queue_jobs.jobs, 4 * $2::int)) as slots offset 0) as free
  order by free.nth, free.served_at, queue_jobs.id limit 4 * $2::int
), slot_lock as materialized (
  select slots.queue_id, slots.slot from ${s}._private_queue_slots as slots
  join free_slot on free_slot.queue_id = slots.queue_id and free_slot.slot = slots.slot
  where slots.locked_by is null
  order by free_slot.nth, slots.served_at, slots.queue_id limit $2::int for update of slots skip locked
), open_queue as materialized (
  select queue_id as id, pg_catalog.count(*) as runs, pg_catalog.array_agg(slot order by slot) as free, (
      select ${slotCount("q")} from ${s}._private_job_queues q where q.id = slot_lock.queue_id) as slots
  from slot_lock group by queue_id
)${rates ? tokens(s) : ""}, ranked as materialized (
  select c.ctid, c.job_queue_id, pg_catalog.row_number() over in_order as place,
    pg_catalog.sum(coalesce(speed.share, 'infinity')) over in_order as part
  from candidate c left join (
    select t.id, (${$.shares}::float8[])[pg_catalog.array_position(${$.identifiers}::text[], t.identifier)] as share
    from ${s}._private_tasks t where t.identifier = any(${$.identifiers}::text[])
  ) speed on speed.id = c.task_id
  where c.job_queue_id in (select id from open_queue)
  window in_order as (partition by c.job_queue_id order by c.priority, c.run_at, c.id rows unbounded preceding)
), run_size as materialized (
  select open_queue.id, open_queue.slots, pg_catalog.array_agg(ranked.ctid) as ctids, ${rates ? "least(" : ""}pg_catalog.count(*) filter (
      where ranked.place <= open_queue.runs or ranked.part <= open_queue.runs::float8
        and ranked.place <= open_queue.runs * greatest(1, ${RUN_JOBS} / open_queue.slots))${
          rates
            ? `,
      coalesce((select pg_catalog.min(tokens.count) from tokens where tokens.queue_id = open_queue.id), 2147483647))`
            : ""
        } as jobs
  from open_queue join ranked on ranked.job_queue_id = open_queue.id
  group by open_queue.id, open_queue.runs, open_queue.slots
), locked as materialized (
  select run.*, run_size.slots from run_size cross join lateral (
    select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at from ${s}._private_jobs j
    where j.ctid = any(run_size.ctids) and ${isReady("j")}
    order by j.priority, j.run_at, j.id limit run_size.jobs for update skip locked) run
), left_out as materialized (
  select c.job_queue_id, c.priority, c.run_at, c.id from candidate c
  where c.job_queue_id in (select id from run_size where slots = 1) and c.ctid not in (select ctid from locked)
), picked as materialized (
  select run.ctid, run.job_queue_id, pg_catalog.row_number() over (partition by run.job_queue_id
    order by run.priority, run.run_at, run.id) as place
  from locked run where not exists (select from left_out where left_out.job_queue_id = run.job_queue_id
    and (left_out.priority, left_out.run_at, left_out.id) < (run.priority, run.run_at, run.id))
)`;
};

export const takeManaged =
  (form: ManagedForm): Statement =>
  (s) =>
    `${pickedSql(s, form)}, in_slot as materialized (
  select picked.ctid, open_queue.free[(picked.place - 1) % open_queue.runs + 1] as slot
  from picked join open_queue on open_queue.id = picked.job_queue_id
), updated as (
  update ${s}._private_jobs j set ${takeBy("$3", "j")}
  from in_slot where j.ctid = in_slot.ctid
  returning ${fetchedSource("j.attempts")}, in_slot.slot
), taken as (
  select id, task_id, ${slotLock("job_queue_id", "slot")} as job_queue_id, payload, priority, run_at, attempts, max_attempts,
    created_at, rare
  from updated
), slot_taken as (
  update ${s}._private_queue_slots as slots set ${lockBy("$3")}, served_at = pg_catalog.now()
  from (select distinct job_queue_id, slot from updated) used
  where slots.queue_id = used.job_queue_id and slots.slot = used.slot
)${form.rates ? `${spentSql(s)}${waitingSql(s)}` : ""}
select pg_catalog.date_part('epoch', pg_catalog.now()) as now_s,
  (select pg_catalog.count(*) from slot_lock) < least($2::int, (select pg_catalog.count(*) from free_slot))
    or (select pg_catalog.count(*) from picked) < (select coalesce(pg_catalog.sum(jobs)::bigint, 0) from run_size) as is_contended,
  ${form.rates ? NEXT_MS : "null::float8"} as next_ms,
  ${fetchedColumns(s, { queues: "slots" })}
from taken j`;

/**
 * Returns a statement that locks the rows that a fetch would change, but changes none. PostgreSQL requires that all
 * parameters are used, so there is a condition on $3.
 */
export const pickManaged =
  (form: ManagedForm): Statement =>
  (s) =>
    `${pickedSql(s, form)}
select j.id::text, (-j.job_queue_id)::text as queue from ${s}._private_jobs j join picked on j.ctid = picked.ctid
where $3::text is not null order by picked.place`;

// Queues that wait for a token or the end of a limit's back-off. The condition `r.tat > now()` only keeps idle rates
// out of the joins.
const slowQueues = (s: string) => `, slow_queue as materialized (
  select q.id, ${AHEAD_MS} - (${CAPACITY} - 1::float8) * ${TOKEN_MS} as next_ms
  from ${s}._private_rates r join ${s}._private_limits l on l.id = r.limit_id and l.scope = 'queue' and l.rate is not null
  join ${s}._private_job_queues q on q.queue_name = r.key
  where r.tat > pg_catalog.now() and ${AHEAD_MS} > (${CAPACITY} - 1::float8) * ${TOKEN_MS}
  union all
  select q.id, ${aheadMs("b.until")}
  from ${s}._private_back_offs b join ${s}._private_limits l on l.name = b.name and l.scope = 'queue'
  join ${s}._private_job_queues q on q.queue_name like ${patternOf("l.match")}
  where b.scope = 'limit' and b.until > pg_catalog.now()
)`;

const tokens = (s: string) => `, rate_lock as materialized (
  select r.limit_id, r.key, r.tat from ${s}._private_rates r
  where r.key in (select q.queue_name from ${s}._private_job_queues q where q.id in (select id from open_queue))
    and r.limit_id in (select l.id from ${s}._private_limits l where l.scope = 'queue' and l.rate is not null)
  order by r.limit_id, r.key for update of r
), tokens as materialized (
  select q.id as queue_id, r.limit_id, r.key, ${TOKEN_MS} as token_ms, (${CAPACITY} - 1::float8) * ${TOKEN_MS} as most_ms,
    case when r.tat is null then 0 else greatest(0::float8, pg_catalog.floor(${CAPACITY} - ${AHEAD_MS} / ${TOKEN_MS} + 1e-6::float8)) end::bigint as count
  from ${s}._private_job_queues q join ${s}._private_limits l
    on l.scope = 'queue' and l.rate is not null and q.queue_name like ${patternOf("l.match")}
  left join rate_lock r on r.limit_id = l.id and r.key = q.queue_name
  where q.id in (select id from open_queue)
)`;

const spentSql = (s: string) => `, spent as (
  update ${s}._private_rates r
  set tat = least(greatest(r.tat, pg_catalog.now()), pg_catalog.now() + used.most_ms * interval '1 millisecond')
    + used.jobs::float8 * used.token_ms * interval '1 millisecond'
  from (
    select limit_id, key, token_ms, most_ms, pg_catalog.count(*) as jobs
    from tokens join updated on job_queue_id = queue_id group by limit_id, key, token_ms, most_ms
  ) used where r.limit_id = used.limit_id and r.key = used.key
)`;

// If HEAD_JOBS jobs are found, some queues may be missing, so all slow queues count as having ready jobs.
const waitingSql = (s: string) => `, waiting as materialized (
  select w.job_queue_id from level cross join lateral (
    select j.job_queue_id from ${s}._private_jobs j
    where ${isReady("j")} and j.job_queue_id in (select id from slow_queue) and j.priority = level.priority and ${isKnownTask(s)}
    order by j.run_at limit ${HEAD_JOBS}) w
  where level.priority is not null and exists (select from slow_queue) and not exists (select from picked)
    limit ${HEAD_JOBS}
)`;

const NEXT_MS = `(select pg_catalog.min(next_ms) from slow_queue where not exists (select from picked)
    and (id in (select job_queue_id from waiting) or (select pg_catalog.count(*) from waiting) >= ${HEAD_JOBS}))`;
