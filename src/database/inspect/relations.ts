// Reads facts about the tables and indexes of the queue's schema from PostgreSQL's catalogue and statistics. No table
// of the queue is read.
import { type Database, query, type Statement } from "../database.ts";
import { utcText } from "./utc-text.ts";

/** The facts about one table, with the names that the HTTP API uses. */
export interface RelationFacts {
  readonly name: string;
  readonly total_bytes: number;
  readonly table_bytes: number;
  readonly index_bytes: number;
  /** The estimated number of rows. */
  readonly live_rows: number;
  readonly dead_rows: number;
  readonly changed_since_analyze: number;
  /** The time of the last vacuum, manual or automatic; null: none since the last reset of PostgreSQL's statistics. */
  readonly last_vacuum_at: string | null;
  readonly last_analyze_at: string | null;
}

export interface IndexFacts {
  readonly name: string;
  readonly table: string;
  readonly bytes: number;
  /** How often the index was used since the statistics were last reset. */
  readonly scans: number;
  readonly is_valid: boolean;
}

// Only the largest are reported, because the schema may also contain tables of other programs.
const MAX_TABLES = 50;
const MAX_INDEXES = 100;

export async function readTables(db: Database): Promise<RelationFacts[]> {
  const rows = await query<Texts<RelationFacts>>(db, tablesSql, [db.schema.name, MAX_TABLES]);
  return rows.map((row) => ({
    ...row,
    total_bytes: Number(row.total_bytes),
    table_bytes: Number(row.table_bytes),
    index_bytes: Number(row.index_bytes),
    live_rows: Number(row.live_rows),
    dead_rows: Number(row.dead_rows),
    changed_since_analyze: Number(row.changed_since_analyze),
  }));
}

export async function readIndexes(db: Database): Promise<IndexFacts[]> {
  const rows = await query<Texts<IndexFacts>>(db, indexesSql, [db.schema.name, MAX_INDEXES]);
  return rows.map((row) => ({ ...row, bytes: Number(row.bytes), scans: Number(row.scans) }));
}

/** A row as query() returns it, in which numbers of the type bigint are texts. */
type Texts<T> = { readonly [K in keyof T]: T[K] extends number ? string : T[K] };

// After a reset of the statistics, n_live_tup is 0, so reltuples, the planner's estimate, is used instead. greatest()
// ignores null.
const tablesSql: Statement = () => `
  select
    class.relname::text as name,
    pg_catalog.pg_total_relation_size(class.oid) as total_bytes,
    pg_catalog.pg_table_size(class.oid) as table_bytes,
    pg_catalog.pg_indexes_size(class.oid) as index_bytes,
    case when coalesce(stat.n_live_tup, 0::bigint) = 0::bigint
      then greatest(class.reltuples, 0::float4)::bigint else stat.n_live_tup end as live_rows,
    coalesce(stat.n_dead_tup, 0)::bigint as dead_rows,
    coalesce(stat.n_mod_since_analyze, 0)::bigint as changed_since_analyze,
    ${utcText("greatest(stat.last_vacuum, stat.last_autovacuum)")} as last_vacuum_at,
    ${utcText("greatest(stat.last_analyze, stat.last_autoanalyze)")} as last_analyze_at
  from pg_catalog.pg_class class
  join pg_catalog.pg_namespace space on space.oid = class.relnamespace
  left join pg_catalog.pg_stat_user_tables stat on stat.relid = class.oid
  where space.nspname = $1::text and class.relkind in ('r', 'p')
  order by pg_catalog.pg_total_relation_size(class.oid) desc, class.relname
  limit $2::int`;

const indexesSql: Statement = () => `
  select
    class.relname::text as name,
    parent.relname::text as table,
    pg_catalog.pg_relation_size(class.oid) as bytes,
    coalesce(stat.idx_scan, 0)::bigint as scans,
    i.indisvalid as is_valid
  from pg_catalog.pg_index i
  join pg_catalog.pg_class class on class.oid = i.indexrelid
  join pg_catalog.pg_class parent on parent.oid = i.indrelid
  join pg_catalog.pg_namespace space on space.oid = parent.relnamespace
  left join pg_catalog.pg_stat_user_indexes stat on stat.indexrelid = i.indexrelid
  where space.nspname = $1::text and parent.relkind in ('r', 'p')
  order by pg_catalog.pg_relation_size(class.oid) desc, class.relname
  limit $2::int`;
