// Finds sequences that are behind the ids of their tables. Logical replication copies rows, but no sequences. So after
// a switchover to the copy, new rows would get ids that already exist, and the inserts would fail.
import { type Database, query, type Statement } from "../database.ts";
import { TABLES_WITH_IDS } from "../errors/database-errors.ts";

export interface LaggingSequence {
  /** The sequence as an SQL identifier, with its schema. */
  readonly name: string;
  readonly table: string;
  readonly nextId: string;
  readonly lastId: string;
  /** The statement that advances the sequence. */
  readonly statement: string;
}

export async function readLaggingSequences(db: Database): Promise<readonly LaggingSequence[]> {
  const found = await query<{ table: string; name: string }>(db, sequencesSql, [
    db.schema.name,
    TABLES_WITH_IDS,
  ]);
  const lagging: LaggingSequence[] = [];
  for (const { table, name } of found) {
    const [row] = await query<{ next: string; last: string }>(db, (s) => placeSql(s, table, name));
    if (row === undefined || BigInt(row.next) > BigInt(row.last)) continue;
    const own = `${db.schema.quoted}.${table}`;
    const statement = `select setval('${name.replaceAll("'", "''")}', (select max(id) from ${own}))`;
    lagging.push({ name, table, nextId: row.next, lastId: row.last, statement });
  }
  return lagging;
}

// A sequence is found by the table that owns it, because the sequence may have any name. A sequence is left out if the
// role of this connection may not read the sequence or the table.
const sequencesSql: Statement = () => `
  select class.relname::text as table,
    pg_catalog.format('%I.%I', space.nspname, sequence.relname) as name
  from pg_catalog.pg_class as class
  join pg_catalog.pg_depend as owned on owned.refobjid = class.oid and owned.deptype in ('a', 'i')
    and owned.classid = 'pg_catalog.pg_class'::pg_catalog.regclass::oid
    and owned.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass::oid
  join pg_catalog.pg_class as sequence on sequence.oid = owned.objid and sequence.relkind = 'S'
  join pg_catalog.pg_namespace as space on space.oid = sequence.relnamespace
  join pg_catalog.pg_namespace as home on home.oid = class.relnamespace
  where home.nspname = $1::text and class.relname = any($2::text[])
  and pg_catalog.has_table_privilege(class.oid, 'select')
  and case when sequence.relkind = 'S' then pg_catalog.has_sequence_privilege(sequence.oid, 'select') end
  order by class.relname`;

/** `name` is an identifier that PostgreSQL has already quoted. */
const placeSql = (schema: string, table: string, name: string) => `
  select (last_value + is_called::int)::text as next,
    (select coalesce(pg_catalog.max(id), 0) from ${schema}.${table})::text as last
  from ${name}`;
