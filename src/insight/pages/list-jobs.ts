// Lists jobs page by page: whole jobs, or rows without payloads.
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
  /** Whether the page has all matching jobs, perhaps except jobs that `report.unchecked` counts. */
  readonly isWhole: boolean;
}

/** A page of rows without payloads. */
export interface LightPage extends CountableQuery {
  readonly jobs: LightJob[];
  readonly nextCursor: string | null;
  readonly report: JobPage["report"];
}

/**
 * Returns a page of the jobs that match all conditions of `filter`. Later pages repeat no job of this page, unless
 * the job has changed, or `report.ranking` of this page is `partial`. A matching job that exists and does not change
 * while all pages are read is on one of the pages, even if other jobs change. Only the jobs that `report.unchecked`
 * counts may be missing. A search through very many jobs stops after about half a second, so a page may be short or
 * empty although `nextCursor` is not null. A page has at most 8 MB. Throws InputError for an invalid filter.
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

/** Like listJobs(), but without payloads. */
export async function listLightJobs(db: Database, filter: JobFilter = {}): Promise<LightPage> {
  const page = await findPage(db, filter);
  const jobs = page.ids.length === 0 ? [] : await readLightRows(db, page.ids);
  const { report, query, isWhole } = page;
  return { jobs, nextCursor: page.cursorAfter(page.ids.length), report, query, isWhole };
}

const NONE = { jobs: [], truncated: [] };

/**
 * Returns how many of `ids` the page covers: all ids up to the id of the last job in `jobs`. The next page begins after
 * these ids. The jobs of the ids that follow did not fit on this page, or have been deleted since. If `jobs` is empty,
 * the jobs of all `ids` have been deleted, and the page covers all `ids`.
 */
function endOf({ ids }: FoundPage, jobs: readonly Job[]): number {
  const last = jobs.at(-1);
  if (last === undefined) return ids.length;
  return ids.indexOf(last.id) + 1;
}
