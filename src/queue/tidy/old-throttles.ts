// Deletes the rows of throttles whose period is over, because such a row has no effect.
import { type Database, query, type Statement } from "../../database/database.ts";

const BATCH = 1_000;
/** The maximum number of batches in one call. The next call deletes the rest. */
const MAX_BATCHES = 200;

/** Returns the number of deleted rows; 0 if the table is missing, or if the role may not delete from it. */
export async function deleteOldThrottles(db: Database): Promise<number> {
  const table = `${db.schema.quoted}._private_throttles`;
  const [row] = await query<{ may_delete: boolean }>(db, mayDeleteSql, [table]);
  if (row?.may_delete !== true) return 0;
  let deleted = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const [step] = await query<{ deleted: number }>(db, deleteSql, [BATCH]);
    deleted += step?.deleted ?? 0;
    if ((step?.deleted ?? 0) < BATCH) break;
  }
  return deleted;
}

const mayDeleteSql: Statement = () =>
  "select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'delete'), false) as may_delete";

// A row that an add has locked is skipped, because this add begins the throttle's next period in the row.
const deleteSql: Statement = (s) => `
with old as materialized (
  select key from ${s}._private_throttles
  where until <= pg_catalog.now()
  order by until
  limit $1::int
  for update skip locked
), deleted as (
  delete from ${s}._private_throttles where key = any(array(select key from old)) returning 1
)
select pg_catalog.count(*)::int as deleted from deleted`;
