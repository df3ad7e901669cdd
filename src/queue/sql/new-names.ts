// Makes names known: of tasks, and of named queues. A name is a row with an id, made once and shared
// by all who use it.

/** The tables of names, each by its column. */
const TABLES = { identifier: "_private_tasks", queue_name: "_private_job_queues" } as const;

export type NameColumn = keyof typeof TABLES;

/**
 * Common table expressions; `all_<column>` gives (id, <column>) of all `names`, a parameter of text[]
 * with distinct ones.
 *
 * "do update", not "do nothing": a name that another session inserts at this very moment is not
 * visible to us, and only an update returns its id. Names are inserted in order, so that two batches
 * with the same new names cannot deadlock.
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

/** A whole statement: the (id, name) of the names in $1. */
export const namesStatement =
  (column: NameColumn) =>
  (s: string): string =>
    `
  with ${knownNames(s, column, "$1")}
  select id, ${column} as name from all_${column}`;
