// The names of tasks and of named queues. A name is a row with an id, created once and shared by all its jobs.
import { type Database, query, type Statement } from "../../database/database.ts";
import type { JobRow } from "./job-row.ts";

/** The tables of names, by the column that has the name. */
const TABLES = { identifier: "_private_tasks", queue_name: "_private_job_queues" } as const;

export type NameColumn = keyof typeof TABLES;

/**
 * Returns common table expressions that add missing names. `names`: the text of a text[] parameter without duplicates.
 * The last expression, `all_<column>`, has the columns (id, <column>) for all `names`.
 *
 * "do update", not "do nothing": a name that another session inserts at the same moment is not visible to this
 * statement, and only an update returns its id. Names are inserted in order, so that two batches with the same new
 * names cannot deadlock.
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

/** Returns a statement that adds those names of $1 that are missing, and returns (id, name) for each name of $1. */
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
 * Returns the rows with the names of their tasks and queues. A statement does not see rows that its table expressions
 * have inserted, so the row of a new job lacks the name of a new task or queue. A second query then reads the names.
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
