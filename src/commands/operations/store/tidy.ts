// Deletes receipts and undo data after 24 hours, operations after 90 days, and expired rehearsals. Each action on
// single jobs is also stored as an operation, and a program may perform many in a second. So data are deleted earlier
// if newer operations have a million stored rows, or if there are about 20,000 newer operations. An operation that is
// still paused or interrupted when its receipt expires is stopped, because after a resume its receipt and undo would be
// incomplete.
import { type Database, query } from "../../../database/database.ts";
import { atWork, MAX_ROWS, UNDO_HOURS } from "../model/operation.ts";
import { EFFECTIVE_STATE } from "./operation-row.ts";

const MAX_OPERATIONS = 20_000;
const EXPIRED = "not resumed before its receipt expired";
// The maximum number of operations or stored rows that a statement expires or deletes, so that the statement ends
// quickly and does not hold back vacuum.
const TIDIED_AT_ONCE = 5_000;

/** A condition: no process works on the operation. */
const IDLE = `(${EFFECTIVE_STATE}) <> all('{${atWork.join(",")}}')`;
const IS_OPEN = "operation.state not in ('done', 'stopped', 'failed', 'undone')";
/** An expression: the time since which no process works on the operation. In rows of old releases, it is a guess. */
const IDLE_SINCE =
  "coalesce(greatest(operation.finished_at, operation.lease_until), operation.created_at)";

// Sets `kept` of expired operations to 0: tidySql then deletes the stored rows. The update checks IDLE again, because
// the operation may have been resumed after `old` was read.
const expireSql = (s: string) => `
  with candidates as (
    select id, pg_catalog.sum(kept) over (order by id desc) - kept::numeric as kept_since
    from ${s}._private_operations
    where kept > 0 or finished_at is null
  ), old as (
    select operation.id
    from candidates join ${s}._private_operations as operation using (id)
    where ${IDLE}
    and (
      candidates.kept_since >= ${MAX_ROWS}::numeric
      or ${IDLE_SINCE} < pg_catalog.now() - interval '${UNDO_HOURS} hours'
      or operation.id <= ${oldest(s)}
    )
    order by operation.id
    limit ${TIDIED_AT_ONCE}
  ), expired as (
    update ${s}._private_operations as operation
    set
      kept = 0,
      state = case when ${IS_OPEN} then 'stopped' else state end,
      error = case when ${IS_OPEN} then coalesce(error, '${EXPIRED}') else error end,
      finished_at = coalesce(finished_at, pg_catalog.now()),
      owner = null,
      lease_until = null
    from old where operation.id = old.id and ${IDLE}
    returning 1
  ), outdated as (
    delete from ${s}._private_rehearsals where expires_at < pg_catalog.now()
  ), deleted as (
    delete from ${s}._private_operations
    where id = any(array(
      select id from ${s}._private_operations as operation
      where kept = 0
      and (finished_at < pg_catalog.now() - interval '90 days' or id <= ${oldest(s)} and finished_at is not null)
      and not exists (
        select from ${s}._private_operation_rows as images where images.operation_id = operation.id
      )
      order by id
      limit ${TIDIED_AT_ONCE}
    ))
    returning 1
  )
  select greatest((select pg_catalog.count(*) from expired), (select pg_catalog.count(*) from deleted))::int as deleted`;

/** Returns an expression: an id above which there are about MAX_OPERATIONS operations, because ids have few gaps. */
const oldest = (s: string) =>
  `(select pg_catalog.max(id) from ${s}._private_operations) - ${MAX_OPERATIONS}`;

// Without the lateral join, PostgreSQL would read the whole table, instead of each operation's rows through the index.
const tidySql = (s: string) => `
  with deleted as (
    delete from ${s}._private_operation_rows
    where ctid = any(array(
      select images.ctid
      from ${s}._private_operations as operation
      cross join lateral (
        select ctid from ${s}._private_operation_rows
        where operation_id = operation.id
        order by job_id
        limit ${TIDIED_AT_ONCE}
      ) as images
      where operation.kept = 0
      limit ${TIDIED_AT_ONCE}
    ))
    returning 1
  )
  select pg_catalog.count(*)::int as deleted from deleted`;

/** Deletes some of the expired data. Returns true if there may be more. */
export async function tidyTables(db: Database): Promise<boolean> {
  const [over] = await query<{ deleted: number }>(db, expireSql, []);
  const [row] = await query<{ deleted: number }>(db, tidySql, []);
  return over?.deleted === TIDIED_AT_ONCE || row?.deleted === TIDIED_AT_ONCE;
}
