// Deletes receipts and undo data of ended operations that have expired, and the oldest beyond a million rows or 20,000
// operations. A program may act on single jobs many times a second, and each of these actions is stored.
import { type Database, query } from "../../../database/database.ts";
import { MAX_ROWS, UNDO_HOURS } from "../model/operation.ts";

const MAX_OPERATIONS = 20_000;
// The number of rows that one statement deletes, so that it ends quickly and does not hold back vacuum.
const TIDIED_AT_ONCE = 5_000;

const expireSql = (s: string) => `
  with ended as (
    select id, pg_catalog.sum(kept) over (order by id desc) - kept::numeric as kept_since
    from ${s}._private_operations
    where kept > 0
  ), old as (
    select operation.id
    from ended join ${s}._private_operations as operation using (id)
    where operation.state in ('done', 'stopped', 'failed', 'undone')
    and (
      ended.kept_since >= ${MAX_ROWS}::numeric
      or operation.finished_at < pg_catalog.now() - interval '${UNDO_HOURS} hours'
      or operation.id <= ${oldest(s)}
    )
    order by operation.id
    limit ${TIDIED_AT_ONCE}
  ), expired as (
    update ${s}._private_operations as operation set kept = 0
    from old where operation.id = old.id
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

/** Returns an expression: the highest id beyond the newest 20,000. Gaps between ids are few, so ids are counted. */
const oldest = (s: string) =>
  `(select pg_catalog.max(id) from ${s}._private_operations) - ${MAX_OPERATIONS}`;

// The rows are found for each operation in index order; otherwise the planner would read the whole table. Rows that are
// still needed are not read.
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

/** Deletes some of the rows. Returns true if there are more. */
export async function tidyTables(db: Database): Promise<boolean> {
  const [over] = await query<{ deleted: number }>(db, expireSql, []);
  const [row] = await query<{ deleted: number }>(db, tidySql, []);
  return over?.deleted === TIDIED_AT_ONCE || row?.deleted === TIDIED_AT_ONCE;
}
