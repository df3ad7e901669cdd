// How many jobs are in which state.
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { stateCounts } from "../sql/job-state.ts";

/** The four states add up to the total; all are of one moment. */
export interface JobCounts {
  readonly total: number;
  readonly ready: number;
  readonly scheduled: number;
  readonly locked: number;
  readonly failed: number;
}

/** Exact counts, by one pass over all jobs: about 0.25 s for each million of them. */
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
