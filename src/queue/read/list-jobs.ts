// Lists jobs page by page, ascending by id.
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../sql/job-row.ts";
import { encodeCursor } from "./job-cursor.ts";
import {
  filterCondition,
  filterValues,
  type JobFilter,
  type ResolvedFilter,
  resolveFilter,
} from "./job-filter.ts";
import { searchJobs } from "./search-jobs.ts";

/** A page of a listing. */
export interface JobPage {
  readonly jobs: Job[];
  /** Hand it back as `cursor` for the jobs after these; null = there are no more. */
  readonly nextCursor: string | null;
}

/**
 * The jobs that match all of `filter`. Pages joined by their cursors repeat no job and omit none
 * that was there all the time, whatever is added or finished meanwhile.
 * A search through very many jobs stops after about half a second: the page is then short, even
 * empty, and its `nextCursor` continues the search. Throws InputError for a filter that is wrong.
 */
export async function listJobs(db: Database, filter: JobFilter = {}): Promise<JobPage> {
  const resolved = await resolveFilter(db, filter);
  if (resolved === null || resolved.limit === 0) return { jobs: [], nextCursor: null };
  return resolved.search === null
    ? pageOfJobs(db, resolved)
    : searchJobs(db, resolved, resolved.search);
}

/** A page ends early rather than carry more payload and error text than this. */
const LONGEST_PAGE_BYTES = 8 * 1024 * 1024;

interface PageRow extends JobRow {
  /** Ids that the page could have shown, one more than the limit at the most. */
  readonly found: number;
}

async function pageOfJobs(db: Database, filter: ResolvedFilter): Promise<JobPage> {
  const values = [...filterValues(filter), filter.limit + 1, filter.offset];
  const rows = await query<PageRow>(db, pageSql, values);
  const jobs = rows.slice(0, filter.limit).map(toJob);
  const last = jobs.at(-1);
  const isMore = last !== undefined && (rows[0]?.found ?? 0) > jobs.length;
  return {
    jobs,
    nextCursor: isMore ? encodeCursor({ after: last.id, isExactShown: false }) : null,
  };
}

// The ids first: what is passed over is then read from an index alone, and only the page itself
// touches rows and payloads. The first job is shown whatever its size.
const pageSql: Statement = (schema) => `
  with page as materialized (
    select jobs.id
    from ${schema}._private_jobs as jobs
    where ${filterCondition}
    order by jobs.id
    limit $5::int
    offset $6::bigint
  ), weighed as (
    select page.id,
      octet_length(jobs.payload::text) + coalesce(octet_length(jobs.last_error), 0) as bytes
    from page
    join ${schema}._private_jobs as jobs on jobs.id = page.id
  ), shown as (
    select id, sum(bytes) over (order by id) - bytes as bytes_before from weighed
  )
  select ${jobColumns}, (select count(*)::int from page) as found
  from shown
  join ${schema}._private_jobs as jobs on jobs.id = shown.id
  ${jobNames(schema)}
  where shown.bytes_before < ${LONGEST_PAGE_BYTES}
  order by jobs.id`;
