// Finds jobs whose rows another session has locked. A statement that changes such a row would wait for that session.
import { type Database, idArray, query, type Statement } from "./database.ts";

/** Returns the ids of those jobs whose rows another session has locked. Does not wait for the locks. */
export async function readLockedRows(db: Database, ids: readonly string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(db, lockedSql, [idArray(ids)]);
  return rows.map(({ id }) => id);
}

// The rows that `free` locks stay locked until the transaction ends. Ids of jobs that no longer exist when the
// statement begins are not returned.
const lockedSql: Statement = (s) => `
  with free as materialized (
    select id from ${s}._private_jobs where id = any($1::bigint[]) for update skip locked
  )
  select j.id::text from ${s}._private_jobs j
  where j.id = any($1::bigint[]) and j.id not in (select id from free)`;
