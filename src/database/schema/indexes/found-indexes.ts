// Reads from PostgreSQL's catalogue which optional indexes a database has, under any name, and their state.
import { type Database, query, type Statement } from "../../database.ts";
import { type IndexName, type OptionalIndex, optionalIndexes } from "./optional-index.ts";

export interface FoundIndex {
  readonly name: IndexName;
  /** The index's name in the database. */
  readonly indexName: string;
  /** Whether the index has the name that this library gives it. Only such an index may be dropped. */
  readonly isOurs: boolean;
  /** Whether queries can use the index. False during a build, after a failed build, or if only the name fits. */
  readonly isValid: boolean;
  readonly bytes: number;
}

interface IndexRow {
  readonly index_name: string;
  readonly method: string;
  readonly is_usable: boolean;
  /** JSON: the columns in their order, keys first. */
  readonly columns: string;
  readonly key_count: number;
  readonly operator_classes: string;
  readonly is_plain: boolean;
  readonly predicate: string | null;
  readonly bytes: string;
}

/** Returns all indexes of the table of jobs that have the form or the name of an optional index. */
export async function findIndexes(db: Database): Promise<FoundIndex[]> {
  const rows = await query<IndexRow>(db, indexesSql, [db.schema.name]);
  return optionalIndexes.flatMap((index) =>
    rows
      .filter((row) => row.index_name === index.indexName || fits(row, index))
      .map((row) => ({
        name: index.name,
        indexName: row.index_name,
        isOurs: row.index_name === index.indexName,
        isValid: row.is_usable && fits(row, index),
        bytes: Number(row.bytes),
      })),
  );
}

/** Whether the index in `row` has the form of the optional index. Further columns are allowed. */
function fits(row: IndexRow, index: OptionalIndex): boolean {
  if (row.method !== index.method || !row.is_plain) return false;
  const columns: readonly (string | null)[] = JSON.parse(row.columns);
  const operatorClasses: readonly string[] = JSON.parse(row.operator_classes);
  if (index.operatorClass !== null && operatorClasses[0] !== index.operatorClass) return false;
  return (
    index.keys.every((key, at) => at < row.key_count && columns[at] === key) &&
    index.includes.every((column) => columns.includes(column)) &&
    plain(row.predicate) === [...index.conditions].sort().join(" and ")
  );
}

/** Sorts the conditions of a predicate that PostgreSQL has printed, and removes parentheses and `= true`. */
function plain(predicate: string | null): string {
  if (predicate === null) return "";
  const text = predicate.toLowerCase().replaceAll(/[()]/g, "").replaceAll(" = true", "");
  return text.split(" and ").sort().join(" and ");
}

// `is_plain`: every key is ascending with nulls last, and no column is an expression.
const indexesSql: Statement = () => `
  select
    class.relname::text as index_name,
    am.amname::text as method,
    i.indisvalid and i.indisready and i.indislive as is_usable,
    (
      select pg_catalog.json_agg(a.attname order by k.place)
      from pg_catalog.unnest(i.indkey::int2[]) with ordinality as k (number, place)
      left join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
    )::text as columns,
    i.indnkeyatts::int as key_count,
    (
      select pg_catalog.json_agg(o.opcname order by k.place)
      from pg_catalog.unnest(i.indclass::oid[]) with ordinality as k (id, place)
      join pg_catalog.pg_opclass o on o.oid = k.id
    )::text as operator_classes,
    i.indexprs is null and not exists (
      select from pg_catalog.unnest(i.indoption::int2[]) as option where option <> 0
    ) as is_plain,
    pg_catalog.pg_get_expr(i.indpred, i.indrelid) as predicate,
    pg_catalog.pg_relation_size(i.indexrelid)::text as bytes
  from pg_catalog.pg_index i
  join pg_catalog.pg_class class on class.oid = i.indexrelid
  join pg_catalog.pg_am am on am.oid = class.relam
  where i.indrelid = (
    select c.oid from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1::text and c.relname = '_private_jobs'
  )
  order by class.relname`;
