// Counts the jobs in each state.
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { stateCounts } from "../../queue/sql/job-state.ts";

/** The numbers of jobs by state (see JobState), all read at the same moment. */
export interface JobCounts {
  /** The number of all jobs: the sum of the other four. */
  readonly total: number;
  /** The number of due jobs with attempts left that are not locked. Their named queues may be locked or paused. */
  readonly ready: number;
  /** The number of jobs with attempts left that are not locked and are due in the future, also for a retry. */
  readonly scheduled: number;
  /** The number of locked jobs. */
  readonly locked: number;
  /** The number of failed jobs. */
  readonly failed: number;
}

/** Returns exact counts. Scans all jobs once, which takes about 0.25 s per million jobs. */
export async function countJobs(db: Database): Promise<JobCounts> {
  const [row] = await query<Record<keyof JobCounts, string>>(db, countSql);
  return {
    total: Number(row?.total ?? 0),
    ready: Number(row?.ready ?? 0),
    scheduled: Number(row?.scheduled ?? 0),
    locked: Number(row?.locked ?? 0),
    failed: Number(row?.failed ?? 0),
  };
}

const countSql: Statement = (schema) => `
  select
    pg_catalog.count(*)::int as total,
    ${stateCounts("jobs")}
  from ${schema}._private_jobs as jobs`;
