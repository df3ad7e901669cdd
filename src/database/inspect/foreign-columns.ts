// Finds the columns that an application has added to the table of jobs. The undo of a deletion inserts the deleted jobs
// again, but without values of these columns, so the restored jobs have the columns' defaults. In every undo, jobs that
// still exist keep their values of these columns.
import { type Database, query, type Statement } from "../database.ts";

const own = [
  ...["id", "job_queue_id", "task_id", "payload", "priority", "run_at", "attempts", "max_attempts"],
  ...["last_error", "created_at", "updated_at", "key", "locked_at", "locked_by", "revision"],
  ...["flags", "is_available"],
];

export async function readForeignColumns(db: Database): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(db, columnsSql, [
    `${db.schema.quoted}._private_jobs`,
    own,
  ]);
  return rows.map(({ name }) => name);
}

const columnsSql: Statement = () => `
  select attname::text as name
  from pg_catalog.pg_attribute
  where attrelid = $1::text::pg_catalog.regclass::oid and attnum > 0 and not attisdropped and attgenerated = ''
  and attname <> all($2::text[])
  order by attnum`;
