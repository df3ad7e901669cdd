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
  /** The filter as one query; null: one query cannot express the filter, or no job can match. */
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
 * Returns a page of the jobs that match `filter`. A matching job that does not change while all pages are read is on
 * one of the pages, unless `report.unchecked` counts the job. Later pages repeat a job only if the job has changed, or
 * if `report.ranking` is `partial`. A search through very many jobs stops after about half a second, so a page may be
 * short or empty although `nextCursor` is not null. A page has at most 8 MB. Throws InputError for an invalid filter.
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
 * Returns how many of `ids` the page covers: all up to the last of `jobs`. The jobs of later ids did not fit on the
 * page, or have been deleted. If `jobs` is empty, the jobs of all `ids` have been deleted.
 */
function endOf({ ids }: FoundPage, jobs: readonly Job[]): number {
  const last = jobs.at(-1);
  if (last === undefined) return ids.length;
  return ids.indexOf(last.id) + 1;
}
