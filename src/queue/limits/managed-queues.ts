// Makes named queues managed while a limit applies to them, and ordinary again afterwards. In a managed queue, each run
// locks a slot instead of the queue (sql/slots.ts). Any add can create a queue, so workers scan the rows of all queues.
// A locked or paused queue becomes managed after the run or pause. Graphile workers fetch no jobs of managed queues.
import { builtOnce, type Database, query, type Statement } from "../../database/database.ts";
import { isPseudoLock, MANAGED } from "../sql/lock.ts";
import { announceJobs } from "../sql/notify.ts";
import { isManaged, NO_SLOTS } from "../sql/slots.ts";

export interface ManagedAnswer {
  readonly changed: number;
  /** Whether queues still differ from the limits: runs hold queues or surplus slots, or `isPartial` is true. */
  readonly isPending: boolean;
  /** Whether queues were left out: those beyond the batch, or those that another session locked or changed. */
  readonly isPartial: boolean;
}

/** Roughly the most queues and slots that a statement changes, so that the statement stays within its time limit. */
const BATCH = 5_000;
const BATCH_SLOTS = 20_000;

/** Returns an expression: the `match` of a limit as a pattern for `like`, as by likePattern(). */
export const patternOf = (match: string): string =>
  [
    ["\\\\", "\\\\\\\\"],
    ["%", "\\\\%"],
    ["_", "\\\\_"],
    ["*", "%"],
  ].reduce((text, [from, to]) => `pg_catalog.replace(${text}, E'${from}', E'${to}')`, match);

/*
 * `wrong`: the queues that differ from the limits, or lack a row in `_private_rates`. While a `managed:0` queue has no
 * free slot, its surplus slots do not count as a difference: no slot could be removed, and each scan would write the
 * queue's row again. `adopted`: the queues of `seen`, except those whose row another session has locked, or has changed
 * since the scan. A change of the number of slots writes the row, too, so the scanned number is right. `version` is
 * xmin, not ctid: old releases of PostgreSQL do not repeat a check of ctid if the row was changed before the lock.
 */
const manageSql: Statement = builtOnce(
  (s) => `
with limits as materialized (
  select l.id, ${patternOf("l.match")} as pattern, l.concurrency, l.rate from ${s}._private_limits as l where l.scope = 'queue'
), queue as materialized (
  select queues.id, queues.xmin as version, queues.queue_name, queues.locked_by, queues.is_available, ${isManaged("queues")} as is_managed,
    (select case when pg_catalog.count(*) > 0 then coalesce(pg_catalog.min(limits.concurrency), 1) end
      from limits where queues.queue_name like limits.pattern) as slots,
    case when ${isManaged("queues")} then (select pg_catalog.count(*) from ${s}._private_queue_slots as one
      where one.queue_id = queues.id) else 0 end as present
  from ${s}._private_job_queues as queues
  where queues.is_available or not ${isPseudoLock("queues")} or queues.locked_by = '${NO_SLOTS}' or $1::boolean and ${isManaged("queues")}
), wrong as materialized (
  select id, version, slots, is_managed, pg_catalog.sum(greatest(slots, present)) over (order by is_managed, id)::bigint as work
  from queue
  where is_available and slots is not null
  or is_managed and (locked_by is distinct from '${MANAGED}' || slots::text or slots is distinct from present)
    and (locked_by <> '${NO_SLOTS}' or present <= coalesce(slots, 0)
      or exists (select from ${s}._private_queue_slots as one where one.queue_id = queue.id and one.locked_by is null))
  or is_managed and exists (
    select from limits where limits.rate is not null and queue.queue_name like limits.pattern and not exists (
      select from ${s}._private_rates as rates where rates.limit_id = limits.id and rates.key = queue.queue_name))
), seen as materialized (
  (select id, version, slots from wrong where work <= ${BATCH_SLOTS}::bigint order by is_managed, id limit ${BATCH})
  union all
  (select id, version, slots from wrong where work > ${BATCH_SLOTS}::bigint order by is_managed, id limit 1)
), adopted as materialized (
  select queues.id, queues.queue_name, seen.slots
  from ${s}._private_job_queues as queues join seen on seen.id = queues.id
  where queues.xmin = seen.version
  order by queues.id for update of queues skip locked
), counted as materialized (
  select adopted.*, (select pg_catalog.count(*)::int from ${s}._private_queue_slots as slots
    where slots.queue_id = adopted.id) as present from adopted
), added as (
  insert into ${s}._private_queue_slots (queue_id, slot)
  select counted.id, new.slot from counted cross join lateral (
    select slot from pg_catalog.generate_series(1, counted.slots + counted.present) as number (slot)
    where not exists (
      select from ${s}._private_queue_slots as slots where slots.queue_id = counted.id and slots.slot = number.slot)
    order by slot limit greatest(0, counted.slots - counted.present)) as new
  returning queue_id
), free as materialized (
  select slots.queue_id, slots.slot from ${s}._private_queue_slots as slots join counted on counted.id = slots.queue_id
  where slots.locked_by is null and counted.present > coalesce(counted.slots, 0)
  order by slots.queue_id, slots.slot for update of slots skip locked
), removed as (
  delete from ${s}._private_queue_slots as slots using (
    select free.*, pg_catalog.row_number() over (partition by queue_id order by slot desc) as place from free
  ) as surplus, counted
  where slots.queue_id = surplus.queue_id and slots.slot = surplus.slot and counted.id = surplus.queue_id
  and surplus.place <= counted.present - coalesce(counted.slots, 0)
  returning slots.queue_id
), settled as materialized (
  select id, counted.slots, present + coalesce(more.slots, 0) - coalesce(fewer.slots, 0) as present
  from counted
  left join (select queue_id, pg_catalog.count(*) as slots from added group by queue_id) as more on more.queue_id = id
  left join (select queue_id, pg_catalog.count(*) as slots from removed group by queue_id) as fewer on fewer.queue_id = id
), written as (
  update ${s}._private_job_queues as queues set
    locked_by = case when settled.slots is null and settled.present = 0 then null
      when settled.present = settled.slots then '${MANAGED}' || settled.slots::text else '${NO_SLOTS}' end,
    locked_at = case when settled.slots is not null or settled.present > 0 then 'infinity'::timestamptz end
  from settled where queues.id = settled.id
  returning queues.id, queues.locked_by
), rated as (
  insert into ${s}._private_rates (limit_id, key, tat)
  select limits.id, adopted.queue_name, pg_catalog.now() from adopted
  join limits on limits.rate is not null and adopted.queue_name like limits.pattern
  order by limits.id, adopted.queue_name on conflict do nothing
)
select (select pg_catalog.count(*)::int from written) as changed,
  (select pg_catalog.count(*) from wrong) > (select pg_catalog.count(*) from seen)
    or exists (select id from seen except select id from adopted) as is_partial,
  exists (select from queue where slots is not null and not is_available and not is_managed)
    or exists (select from written where locked_by = '${NO_SLOTS}')
    or exists (select from queue where locked_by = '${NO_SLOTS}' and id not in (select id from written)) as is_blocked,
  case when exists (select from written) then ${announceJobs("1")} end`,
);

type ManageRow = Record<"is_blocked" | "is_partial", boolean> & Pick<ManagedAnswer, "changed">;

/** `all`: whether all managed queues are checked, too. Needed after a change of limits, until `isPending` is false. */
export async function manageQueues(
  db: Database,
  { all }: { readonly all: boolean },
): Promise<ManagedAnswer> {
  const [row] = await query<ManageRow>(db, manageSql, [all]);
  const { changed, is_partial: isPartial, is_blocked } = row as ManageRow;
  return { changed, isPending: is_blocked || isPartial, isPartial };
}

// The statement locks the slots, so that no run begins. A row in `_private_rates` is deleted only while all its tokens
// are available, because a later new row begins with all tokens.
const releaseUnusedSql: Statement = (s) => `
with unused as materialized (
  select queues.id, queues.queue_name, queues.xmin as version from ${s}._private_job_queues as queues
  where queues.id > $1::int and ${isManaged("queues")}
  and not exists (select from ${s}._private_jobs as jobs where jobs.job_queue_id = queues.id)
  order by queues.id limit $2::int
), row as materialized (
  select queues.id from ${s}._private_job_queues as queues join unused on unused.id = queues.id
  where queues.xmin = unused.version order by queues.id for update of queues skip locked
), free as materialized (
  select slots.queue_id, slots.slot from ${s}._private_queue_slots as slots
  where slots.queue_id in (select id from row) and slots.locked_by is null
  order by slots.queue_id, slots.slot for update skip locked
), released as materialized (
  select id from row where (select pg_catalog.count(*) from free where free.queue_id = row.id)
    = (select pg_catalog.count(*) from ${s}._private_queue_slots as slots where slots.queue_id = row.id)
), removed as (
  delete from ${s}._private_queue_slots where queue_id in (select id from released)
), deleted as (
  delete from ${s}._private_rates as rates where rates.tat <= pg_catalog.now()
  and rates.limit_id in (select id from ${s}._private_limits where scope = 'queue')
  and (rates.key in (select queue_name from unused where id in (select id from released))
    or not exists (select from ${s}._private_job_queues as queues where queues.queue_name = rates.key))
), unlocked as (
  update ${s}._private_job_queues set locked_by = null, locked_at = null where id in (select id from released)
)
select pg_catalog.max(id) as last, pg_catalog.count(*)::int as count from unused`;

/** Makes managed queues without jobs ordinary, so that the cleanup can delete them. */
export async function releaseUnusedQueues(db: Database, chunk: number): Promise<void> {
  let last: number | null = 0;
  while (last !== null) {
    const rows: { last: number | null; count: number }[] = await query(db, releaseUnusedSql, [
      last,
      chunk,
    ]);
    last = rows[0]?.count === chunk ? (rows[0].last ?? null) : null;
  }
}
