// Searches the text of jobs, which no index can help with: chunk after chunk of ascending ids, each
// a short statement, until the page is full or the time is up.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import { toJob } from "../sql/job-row.ts";
import { encodeCursor, type JobCursor } from "./job-cursor.ts";
import type { ResolvedFilter } from "./job-filter.ts";
import { findExact, searchChunk } from "./search-chunk.ts";

const BUDGET_MS = 400;
const CHUNK_MS = 100;
const FIRST_CHUNK = 1_000;
const SMALLEST_CHUNK = 100;
const LARGEST_CHUNK = 100_000;

/** Same shape as a JobPage. */
export interface FoundJobs {
  readonly jobs: Job[];
  readonly nextCursor: string | null;
}

/**
 * Jobs with this id, or with `text` in payload, last error, key, task, queue or worker: literally,
 * ignoring case. When the time is up before the end, a job whose id or key is exactly `text` is
 * shown at once, ahead of its turn, and not again later.
 */
export async function searchJobs(
  db: Database,
  filter: ResolvedFilter,
  text: string,
): Promise<FoundJobs> {
  const deadline = monotonic() + BUDGET_MS;
  const jobs: Job[] = [];
  let cursor = filter.cursor;
  let skip = filter.offset;
  let size = FIRST_CHUNK;
  for (;;) {
    const began = monotonic();
    const wanted = filter.limit + 1 - jobs.length;
    const chunk = await searchChunk(db, { ...filter, cursor }, text, { size, skip, wanted });
    jobs.push(...chunk.rows.map(toJob));
    skip -= Math.min(skip, chunk.matched);
    if (jobs.length > filter.limit) return fullPage(jobs.slice(0, filter.limit), cursor);
    if (chunk.searched < size || chunk.searchedTo === null) return { jobs, nextCursor: null };
    cursor = { ...cursor, after: chunk.searchedTo };
    // Without having passed over the offset there is no place to continue from.
    if (monotonic() > deadline && skip === 0) break;
    size = nextSize(size, monotonic() - began);
  }
  return shortPage(db, { ...filter, cursor }, text, jobs);
}

function fullPage(jobs: Job[], cursor: JobCursor): FoundJobs {
  const after = jobs.at(-1)?.id ?? cursor.after;
  return { jobs, nextCursor: encodeCursor({ ...cursor, after }) };
}

/** What was found in time, and the exact match when it lies ahead and there is room for it. */
async function shortPage(
  db: Database,
  filter: ResolvedFilter,
  text: string,
  jobs: Job[],
): Promise<FoundJobs> {
  const { cursor, limit } = filter;
  const exact = cursor.isExactShown ? [] : await findExact(db, filter, text);
  if (exact.length === 0 || jobs.length + exact.length > limit) {
    return { jobs, nextCursor: encodeCursor(cursor) };
  }
  const nextCursor = encodeCursor({ ...cursor, isExactShown: true });
  return { jobs: [...jobs, ...exact.map(toJob)], nextCursor };
}

/** A chunk that takes about CHUNK_MS, grown at most eightfold at a time. */
function nextSize(size: number, tookMs: number): number {
  const ideal = Math.round(size * Math.min(8, CHUNK_MS / Math.max(1, tookMs)));
  return Math.max(SMALLEST_CHUNK, Math.min(LARGEST_CHUNK, ideal));
}
