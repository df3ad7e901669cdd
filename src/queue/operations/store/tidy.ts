// Lets go of receipts and undo data when their time is over, and of the oldest when there are too many.
import { type Database, query } from "../../../database/database.ts";
import { MOST_ROWS, UNDO_HOURS } from "../model/operation.ts";

const expireSql = (s: string) => `
  with ended as (
    select id, finished_at, sum(kept) over (order by id desc) as kept_since
    from ${s}._private_operations
    where kept > 0
  ), old as (
    select operation.id
    from ended join ${s}._private_operations as operation using (id)
    where operation.state in ('done', 'stopped', 'failed', 'undone')
    and (
      ended.kept_since > ${MOST_ROWS}
      or operation.finished_at < now() - interval '${UNDO_HOURS} hours'
    )
    order by operation.id
    limit 100
  ), expired as (
    update ${s}._private_operations as operation set kept = 0
    from old where operation.id = old.id
  ), forgotten as (
    delete from ${s}._private_rehearsals where expires_at < now()
  )
  delete from ${s}._private_operations as operation
  where finished_at < now() - interval '90 days' and kept = 0
  and not exists (
    select from ${s}._private_operation_rows as was where was.operation_id = operation.id
  )`;

// Small enough to be over in a moment, so that nobody's snapshot is held up.
const TIDIED_AT_ONCE = 5_000;

// Operation by operation and in the index's order, or the planner reads the whole table: of a million
// rows that others still need none is looked at.
const tidySql = (s: string) => `
  with gone as (
    delete from ${s}._private_operation_rows
    where ctid = any(array(
      select was.ctid
      from ${s}._private_operations as operation
      cross join lateral (
        select ctid from ${s}._private_operation_rows
        where operation_id = operation.id
        order by job_id
        limit ${TIDIED_AT_ONCE}
      ) as was
      where operation.kept = 0
      limit ${TIDIED_AT_ONCE}
    ))
    returning 1
  )
  select count(*)::int as gone from gone`;

/** A bounded part of it. True: there is more. */
export async function tidyTables(db: Database): Promise<boolean> {
  await query(db, expireSql, []);
  const [row] = await query<{ gone: number }>(db, tidySql, []);
  return row?.gone === TIDIED_AT_ONCE;
}
