// Lists jobs page by page: in full, or without payloads for a table.
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import type { JobQuery } from "../query/job-query.ts";
import { readFullRows } from "./full-rows.ts";
import type { JobFilter } from "./job-filter.ts";
import type { JobPage } from "./job-page.ts";
import { type LightJob, readLightRows } from "./light-rows.ts";
import { type FoundPage, findPage } from "./walk-jobs.ts";

/** The members of a page from which a caller can count all matches. */
export interface CountableQuery {
  /** The filter as one query, for counting. Null if no single query can express the filter, or if no job can match. */
  readonly query: JobQuery | null;
  /** Whether the page has all matching jobs. */
  readonly isWhole: boolean;
}

/** A page of rows without payloads. */
export interface LightPage extends CountableQuery {
  readonly jobs: LightJob[];
  readonly nextCursor: string | null;
  readonly report: JobPage["report"];
}

/**
 * Returns a page of the jobs that match all of `filter`. The pages after it repeat none of its jobs, unless its
 * `ranking` is `partial`. They omit no job that existed and did not change while the pages were read, whatever happened
 * to other jobs. A search through very many jobs stops after about half a second. The page may then be short or empty,
 * and its `nextCursor` continues the search. A page has at most 8 MB. Throws InputError for an invalid filter.
 */
export async function listJobs(
  db: Database,
  filter: JobFilter = {},
): Promise<JobPage & CountableQuery> {
  const page = await findPage(db, filter);
  const { jobs, truncated } = page.ids.length === 0 ? NONE : await readFullRows(db, page.ids);
  const nextCursor = page.cursorAfter(endOf(page, jobs));
  const { report, query, isWhole } = page;
  return { jobs, nextCursor, truncated, report, query, isWhole: isWhole && nextCursor === null };
}

/** Like listJobs(), but without payloads, for a table. */
export async function listLightJobs(db: Database, filter: JobFilter = {}): Promise<LightPage> {
  const page = await findPage(db, filter);
  const jobs = page.ids.length === 0 ? [] : await readLightRows(db, page.ids);
  const { report, query, isWhole } = page;
  return { jobs, nextCursor: page.cursorAfter(page.ids.length), report, query, isWhole };
}

const NONE = { jobs: [], truncated: [] };

/**
 * Returns how many of the ids the page covers: those up to its last job. The jobs of later ids did not fit, or were
 * deleted. If the page has no job, it covers all ids.
 */
function endOf({ ids }: FoundPage, jobs: readonly Job[]): number {
  const last = jobs.at(-1);
  if (last === undefined) return ids.length;
  return ids.indexOf(last.id) + 1;
}
