// Reads from PostgreSQL's views which builds of indexes on the table of jobs are running, also those of other programs.
import { type Database, query, type Statement } from "../../database.ts";
import type { SchemaName } from "../../schema-name.ts";
import { type IndexName, type OptionalIndex, optionalIndexes } from "./optional-index.ts";

export interface BuildProgress {
  /** The index's name in the list of optional indexes; null for any other index. */
  readonly name: IndexName | null;
  /** The index's name in the database; null until the index is in the catalogue. */
  readonly indexName: string | null;
  readonly pid: number;
  /** PostgreSQL's name of the phase, such as `building index: scanning table`. */
  readonly phase: string;
  /** The completed part of the phase, from 0 to 1; null if unknown. */
  readonly share: number | null;
  /** When the build began, RFC 3339. */
  readonly since: string;
}

/** Returns the beginning of the statement that builds the index. The text identifies a build without `indexName`. */
export function createPrefix(schema: SchemaName, { indexName }: OptionalIndex): string {
  return `create index concurrently ${indexName} on ${schema.quoted}._private_jobs `;
}

interface BuildRow {
  readonly index_name: string | null;
  readonly query: string | null;
  readonly pid: number;
  readonly phase: string;
  readonly share: number | null;
  readonly since: string;
}

/** Returns the running builds. Without pg_read_all_stats, PostgreSQL hides the builds of other roles. */
export async function readBuilds(db: Database): Promise<BuildProgress[]> {
  const rows = await query<BuildRow>(db, buildsSql, [db.schema.name]);
  return rows.map(({ query: text, index_name: indexName, ...row }) => {
    const index = optionalIndexes.find(
      (one) => one.indexName === indexName || text?.startsWith(createPrefix(db.schema, one)),
    );
    return { ...row, indexName, name: index?.name ?? null };
  });
}

// PostgreSQL measures the progress of a phase in blocks, in tuples, or in sessions whose locks the build awaits.
const buildsSql: Statement = () => `
  select
    class.relname as index_name,
    activity.query,
    progress.pid,
    progress.phase,
    case
      when progress.phase like 'waiting%' then
        progress.lockers_done::float8 / nullif(progress.lockers_total, 0)::float8
      when progress.blocks_total > 0 then progress.blocks_done::float8 / progress.blocks_total::float8
      else progress.tuples_done::float8 / nullif(progress.tuples_total, 0)::float8
    end as share,
    pg_catalog.to_char(
      coalesce(activity.query_start, pg_catalog.now()) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
    ) as since
  from pg_catalog.pg_stat_progress_create_index progress
  left join pg_catalog.pg_stat_activity activity on activity.pid = progress.pid
  left join pg_catalog.pg_class class on class.oid = progress.index_relid
  where progress.datname = pg_catalog.current_database()
  and progress.relid = (
    select c.oid from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1::text and c.relname = '_private_jobs'
  )
  order by progress.pid`;
