// What the audit trail says of the jobs that a command is about, read before it and after it.
import { type Database, query } from "../../database/database.ts";
import type { JobState } from "../../domain/job.ts";
import { stateOf } from "../../queue/sql/job-state.ts";
import { microseconds, timeText } from "../../queue/sql/moments.ts";
import type { JobFacts } from "./audit-entry.ts";

const MOST_JOBS = 20;

interface FactsRow {
  readonly id: string;
  readonly state: JobState;
  readonly run_at_us: string;
  readonly priority: number;
  readonly attempts: number;
  readonly max_attempts: number;
}

/** Of the first few of these jobs, those that are there, ascending by id. */
export async function readFacts(
  db: Database,
  { ids, key }: { readonly ids: readonly string[] | null; readonly key: string | null },
): Promise<JobFacts[] | null> {
  if (ids === null && key === null) return null;
  const rows = await query<FactsRow>(db, factsSql, [(ids ?? []).slice(0, MOST_JOBS), key]);
  return rows.map(({ run_at_us: runAtUs, ...row }) => ({ ...row, run_at: timeText(runAtUs) }));
}

const factsSql = (s: string) => `
  select jobs.id, ${stateOf("jobs")} as state, ${microseconds("jobs.run_at")} as run_at_us,
    jobs.priority, jobs.attempts, jobs.max_attempts
  from ${s}._private_jobs as jobs
  where jobs.id = any($1::bigint[]) or jobs.key = $2::text
  order by jobs.id`;
