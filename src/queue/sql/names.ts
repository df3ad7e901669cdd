// Adds and reads the names of tasks and of named queues.
import { type Database, query, type Statement } from "../../database/database.ts";
import type { JobRow } from "./job-row.ts";

const TABLES = { identifier: "_private_tasks", queue_name: "_private_job_queues" } as const;

export type NameColumn = keyof typeof TABLES;

/**
 * Returns common table expressions that add missing names. `names`: a parameter such as `$1`, a text[] without
 * duplicates. The last expression, `all_<column>`, has a row (id, <column>) for each name. If another session inserts a
 * name at the same moment, "do update" returns the row's id, and "do nothing" would return no row. Names are inserted
 * in sorted order, so that two such statements cannot deadlock.
 */
export const knownNames = (s: string, column: NameColumn, names: string): string => `
  known_${column} as (
    select id, ${column} from ${s}.${TABLES[column]} where ${column} = any(${names}::text[])
  ), new_${column} as (
    insert into ${s}.${TABLES[column]} as known (${column})
    select name from pg_catalog.unnest(${names}::text[]) as named (name)
    where name not in (select ${column} from known_${column})
    order by name
    on conflict (${column}) do update set ${column} = known.${column}
    returning id, ${column}
  ), all_${column} as (
    select * from known_${column} union all select * from new_${column}
  )`;

/** Returns a statement that adds missing names of $1, and returns a row (id, name) for each name in $1. */
export const namesStatement =
  (column: NameColumn) =>
  (s: string): string =>
    `
  with ${knownNames(s, column, "$1")}
  select id, ${column} as name from all_${column}`;

interface NameRow {
  readonly is_task: boolean;
  readonly id: number;
  readonly name: string;
}

/**
 * Returns the rows with the names of their tasks and queues. A row lacks a name if the statement that added the job
 * also inserted the name, because a statement does not see the rows that it inserts.
 */
export async function withNames<R extends JobRow>(db: Database, rows: readonly R[]): Promise<R[]> {
  const taskIds = new Set<number>();
  const queueIds = new Set<number>();
  for (const row of rows) {
    if (row.task_identifier === null) taskIds.add(row.task_id);
    if (row.queue_name === null && row.job_queue_id !== null) queueIds.add(row.job_queue_id);
  }
  if (taskIds.size === 0 && queueIds.size === 0) return [...rows];
  const found = await query<NameRow>(db, namesSql, [[...taskIds], [...queueIds]]);
  const names = new Map(found.map((row) => [`${row.is_task} ${row.id}`, row.name]));
  return rows.map((row) => ({
    ...row,
    task_identifier: row.task_identifier ?? names.get(`true ${row.task_id}`) ?? null,
    queue_name: row.queue_name ?? names.get(`false ${row.job_queue_id}`) ?? null,
  }));
}

const namesSql: Statement = (schema) => `
  select true as is_task, id, identifier as name
  from ${schema}._private_tasks
  where id = any($1::int[])
  union all
  select false, id, queue_name
  from ${schema}._private_job_queues
  where id = any($2::int[])`;
