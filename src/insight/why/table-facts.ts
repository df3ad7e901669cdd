// Reads from PostgreSQL's catalogue whether the table of jobs is small enough to be read whole, or has to be sampled,
// and whether the table of heartbeats can be read. These facts decide how other facts about a job are read. The same
// statement reads the database's time.
import { type Database, query, type Statement } from "../../database/database.ts";
import { microseconds, timeText } from "../../queue/sql/moments.ts";

export interface JobTableFacts {
  readonly pages: number;
  /** Whether one pass over the table takes no longer than a sample, so that every number can be exact. */
  readonly isSmall: boolean;
  readonly hasWorkers: boolean;
  /** The time by the database's clock, in milliseconds. */
  readonly nowMs: number;
  readonly asOf: string;
}

/**
 * The maximum size of a small table, in pages. A table of this size has about 220,000 small rows, which are read in
 * 60 ms. The limit is not a number of rows, because the time of a pass depends on the size of the table.
 */
const SMALL_PAGES = 4_096;

export async function readTableFacts(db: Database): Promise<JobTableFacts> {
  const { quoted } = db.schema;
  const values = [`${quoted}._private_jobs`, `${quoted}._private_workers`];
  const [row] = await query<FactsRow>(db, factsSql, values);
  const pages = Number(row?.pages ?? 0);
  const nowUs = row?.now_us ?? "0";
  return {
    pages,
    isSmall: pages <= SMALL_PAGES,
    hasWorkers: row?.has_workers === true,
    nowMs: Math.floor(Number(nowUs) / 1_000),
    asOf: timeText(nowUs),
  };
}

interface FactsRow {
  readonly pages: string | null;
  readonly has_workers: boolean;
  readonly now_us: string;
}

const factsSql: Statement = () => `
  select
    pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text)) / pg_catalog.current_setting('block_size')::int as pages,
    coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($2::text), 'select'), false) as has_workers,
    ${microseconds("pg_catalog.now()")} as now_us`;
