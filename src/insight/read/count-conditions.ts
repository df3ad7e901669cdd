// Counts exactly, with one statement, the jobs in each condition and in each of the HTTP API's four states.
import { type Database, query, type Statement } from "../../database/database.ts";
import type { Condition } from "../../domain/condition.ts";
import { isAvailable, isDue } from "../../queue/sql/eligible.ts";
import { isFailed, isLocked } from "../../queue/sql/job-state.ts";
import { isBlockedQueue } from "../../queue/sql/lock.ts";
import { isFetched } from "../expressions/condition.ts";
import type { Heartbeats } from "../expressions/heartbeats.ts";
import { heartbeatsOf } from "../expressions/heartbeats.ts";
import type { JobCounts } from "./count-jobs.ts";

/**
 * The number of jobs in each condition. The counts of the conditions add up to the total, and so do the counts of the
 * states. All counts are of one moment.
 */
export interface ConditionCounts extends JobCounts {
  readonly conditions: Readonly<Record<Condition, number>>;
}

/** Counts the jobs. Takes two to three times as long as countJobs(), because the queues are read as well. */
export async function countConditions(db: Database): Promise<ConditionCounts> {
  const [row] = await query<Record<CountName, string>>(db, countsSql(await heartbeatsOf(db)));
  const of = (name: CountName) => Number(row?.[name] ?? 0);
  const conditions = {
    ready: of("ready"),
    blocked: of("blocked"),
    fetched: of("fetched"),
    running: of("locked") - of("fetched"),
    retrying: of("retrying_due") + of("retrying_ahead"),
    scheduled: of("scheduled"),
    failed: of("failed"),
  };
  return {
    total: of("total"),
    ready: conditions.ready + conditions.blocked + of("retrying_due"),
    scheduled: conditions.scheduled + of("retrying_ahead"),
    locked: of("locked"),
    failed: conditions.failed,
    conditions,
  };
}

type CountName =
  | Exclude<Condition, "running" | "retrying">
  | "total"
  | "locked"
  | "retrying_due"
  | "retrying_ahead";

const due = `${isAvailable("jobs")} and ${isDue("jobs")}`;
const ahead = `${isAvailable("jobs")} and not ${isDue("jobs")}`;
const isBlocked = isBlockedQueue("queues");
const countWhere = (where: string) => `pg_catalog.count(*) filter (where ${where})::text`;

// A sub-select of the locked jobs tests which of these jobs are fetched. If the pass over all jobs contained this test,
// the planner would add the cost of the test for every job to its estimate. Because of the high estimate, PostgreSQL
// would spend seconds on JIT compilation.
const countsSql =
  (heartbeats: Heartbeats): Statement =>
  (schema) =>
    `
  select pg_catalog.count(*)::text as total,
    ${countWhere(isLocked("jobs"))} as locked,
    ${countWhere(isFailed("jobs"))} as failed,
    ${countWhere(`${due} and ${isBlocked}`)} as blocked,
    ${countWhere(`${due} and not (${isBlocked}) and jobs.attempts > 0`)} as retrying_due,
    ${countWhere(`${due} and not (${isBlocked}) and jobs.attempts = 0`)} as ready,
    ${countWhere(`${ahead} and jobs.attempts > 0`)} as retrying_ahead,
    ${countWhere(`${ahead} and jobs.attempts = 0`)} as scheduled,
    (select pg_catalog.count(*)::text from (
      select id, locked_by, locked_at from ${schema}._private_jobs as jobs
      where ${isLocked("jobs")} offset 0
    ) as jobs
    where ${isFetched("jobs", heartbeats)}) as fetched
  from ${schema}._private_jobs as jobs
  left join ${schema}._private_job_queues as queues on queues.id = jobs.job_queue_id`;
