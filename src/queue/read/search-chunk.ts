// One step of a text search: the next so many jobs of the filter, and which of them match.
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { isJobId } from "../../domain/job-ids.ts";
import { type JobRow, jobColumns, jobNames } from "../sql/job-row.ts";
import { filterCondition, filterValues, type ResolvedFilter } from "./job-filter.ts";

export interface SearchedChunk {
  /** Matching jobs after the skipped ones. */
  readonly rows: JobRow[];
  /** Matching jobs, the skipped ones included. */
  readonly matched: number;
  /** The last id that was searched; null when none was left. */
  readonly searchedTo: string | null;
  /** Jobs that were searched, at most `size`. */
  readonly searched: number;
}

export interface ChunkBounds {
  /** Jobs to search. */
  readonly size: number;
  /** Matches to skip. */
  readonly skip: number;
  /** Matches wanted after those. */
  readonly wanted: number;
}

/** Searches the `size` jobs that follow the filter's cursor. */
export async function searchChunk(
  db: Database,
  filter: ResolvedFilter,
  text: string,
  { size, skip, wanted }: ChunkBounds,
): Promise<SearchedChunk> {
  const isAscii = /^[\0-\x7f]*$/.test(text);
  const rows = await query<ChunkRow>(db, isAscii ? asciiSql : unicodeSql, [
    ...filterValues(filter),
    ...exactValues(text),
    patterns(text),
    filter.cursor.isExactShown,
    size,
    skip,
    wanted,
  ]);
  return {
    rows: rows.filter((row): row is ChunkRow & JobRow => row.id !== null),
    matched: rows[0]?.matched ?? 0,
    searchedTo: rows[0]?.searched_to ?? null,
    searched: rows[0]?.searched ?? 0,
  };
}

/** The job whose id or key is exactly `text`, if the filter lets it through and it is still ahead. */
export function findExact(db: Database, filter: ResolvedFilter, text: string): Promise<JobRow[]> {
  return query<JobRow>(db, exactSql, [...filterValues(filter), ...exactValues(text)]);
}

interface ChunkRow extends Omit<JobRow, "id"> {
  /** null in the one row of a chunk without matches. */
  readonly id: string | null;
  readonly matched: number;
  readonly searched: number;
  readonly searched_to: string | null;
}

/** $5 and $6 of `exactCondition`. */
function exactValues(text: string): [string | null, string] {
  return [isJobId(text) ? text : null, text];
}

/**
 * LIKE patterns that find `text` literally. How far ILIKE knows upper and lower case beyond ASCII
 * depends on the database's locale ("C" knows nothing), so the usual spellings are given as well.
 */
function patterns(text: string): string[] {
  const capitalized = text.replace(/\p{L}+/gu, (word) => {
    const [first = "", ...rest] = word;
    return first.toUpperCase() + rest.join("").toLowerCase();
  });
  const spellings = new Set([text, text.toLowerCase(), text.toUpperCase(), capitalized]);
  const usual = /^[\0-\x7f]*$/.test(text) ? [text] : [...spellings];
  return usual.map((spelling) => `%${spelling.replace(/[\\%_]/g, "\\$&")}%`);
}

const exactCondition = "(jobs.id = $5::bigint or jobs.key = $6::text)";

const exactSql: Statement = (schema) => `
  select ${jobColumns}
  from ${schema}._private_jobs as jobs
  ${jobNames(schema)}
  where ${exactCondition} and ${filterCondition}
  order by jobs.id`;

// The chunk is a range of ids, not a join: a join may be planned the other way round, and then the
// text of the whole table is matched. Task and queue names are matched once a chunk, not once a job.
const chunkSql = (schema: string, collation: string) => `
  with chunk as materialized (
    select jobs.id
    from ${schema}._private_jobs as jobs
    where ${filterCondition}
    order by jobs.id
    limit $9::int
  ), found as materialized (
    select jobs.id
    from ${schema}._private_jobs as jobs
    where ${filterCondition}
    and jobs.id <= (select max(id) from chunk)
    and (
      ${exactCondition}
      or jobs.task_id in (
        select id from ${schema}._private_tasks
        where identifier ${collation} ilike any ($7::text[])
      )
      or jobs.job_queue_id in (
        select id from ${schema}._private_job_queues
        where queue_name ${collation} ilike any ($7::text[])
      )
      or jobs.key ${collation} ilike any ($7::text[])
      or jobs.locked_by ${collation} ilike any ($7::text[])
      or jobs.last_error ${collation} ilike any ($7::text[])
      or jobs.payload::text ${collation} ilike any ($7::text[])
    )
    and (not $8::boolean or ${exactCondition} is not true)
    order by jobs.id
    limit $10::bigint + $11::bigint
  ), summary as (
    select
      (select count(*)::int from chunk) as searched,
      (select max(id) from chunk) as searched_to,
      (select count(*)::int from found) as matched
  )
  select ${jobColumns}, summary.searched, summary.searched_to, summary.matched
  from summary
  left join (select id from found order by id offset $10::bigint) as page on true
  left join ${schema}._private_jobs as jobs on jobs.id = page.id
  ${jobNames(schema)}
  order by jobs.id`;

// Ignoring the case of ASCII letters only is many times faster than asking the locale.
const asciiSql: Statement = (schema) => chunkSql(schema, `collate "C"`);
const unicodeSql: Statement = (schema) => chunkSql(schema, "");
