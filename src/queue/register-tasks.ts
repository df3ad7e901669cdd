// Makes a worker's task identifiers known, so that they are visible before their first job, and
// gives their ids.
import { type Database, query } from "../database/database.ts";

const insertSql = (s: string) => `
insert into ${s}._private_tasks (identifier) select unnest($1::text[])
except select identifier from ${s}._private_tasks
on conflict do nothing`;

const selectSql = (s: string) => `
select id, identifier from ${s}._private_tasks where identifier = any($1::text[])`;

/** Task id → identifier. */
export async function registerTasks(
  db: Database,
  identifiers: readonly string[],
): Promise<Map<number, string>> {
  await query(db, insertSql, [identifiers]);
  const rows = await query<{ id: number; identifier: string }>(db, selectSql, [identifiers]);
  return new Map(rows.map(({ id, identifier }) => [id, identifier]));
}
