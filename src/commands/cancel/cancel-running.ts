// Stores requests to cancel the running jobs of a queue or of a task, or all running jobs.
import type { Database, Statement } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import type { PauseScope, PauseTarget } from "../../queue/pauses/pause.ts";
import { contendedQuery } from "../../queue/sql/contended-query.ts";
import { isLocked } from "../../queue/sql/job-state.ts";
import { isNotResponding } from "../../queue/workers/stale-workers.ts";
import { cancelRequests } from "./cancel-requests.ts";

/**
 * Stores the requests, and returns their number. A job that a worker has fetched and not started counts as running.
 * After a pause that all workers have acknowledged, there is no such job in the scope of the pause, because a worker
 * gives its unstarted jobs back before it acknowledges the pause.
 */
export async function cancelRunning(
  db: Database,
  { scope, name }: PauseTarget,
  { reason, by }: { readonly reason: string | null; readonly by: string | null },
): Promise<number> {
  const statement = runningSql(scope, await hasWorkerTable(db));
  const [row] = await contendedQuery<{ count: number }>(db, statement, [name, reason, by]);
  return row?.count ?? 0;
}

const conditions: Readonly<Record<PauseScope, (s: string) => string>> = {
  all: () => "$1::text is not null",
  queue: (s) => `jobs.job_queue_id = (
      select id from ${s}._private_job_queues where queue_name = $1::text)`,
  task: (s) => `jobs.task_id = (select id from ${s}._private_tasks where identifier = $1::text)`,
};

// The row of a job that runs in the fast mode may have no `locked_by`, so these jobs are found in the workers' reports.
const reportedSql = (s: string) => `
  select pg_catalog.unnest(array(
    select one.id::bigint from ${s}._private_workers as workers,
      pg_catalog.jsonb_array_elements_text(
        case when pg_catalog.jsonb_typeof(workers.metadata -> 'running_job_ids'::text) = 'array'
          then workers.metadata -> 'running_job_ids'::text else '[]' end) as one (id)
    where not ${isNotResponding} and one.id ~ '^[1-9][0-9]{0,17}$'
  )) as id`;

const runningSql =
  (scope: PauseScope, heartbeats: boolean): Statement =>
  (s) =>
    `
with reported as materialized (${heartbeats ? reportedSql(s) : "select null::bigint as id where false"}
), running as materialized (
  select jobs.id from ${s}._private_jobs as jobs
  where not jobs.is_available and ${isLocked("jobs")} and ${conditions[scope](s)}
  union
  select jobs.id from ${s}._private_jobs as jobs
  where jobs.id = any(array(select id from reported)) and ${conditions[scope](s)}
), ${cancelRequests(s, "select id from running", { reason: "$2::text", by: "$3::text" })}
select pg_catalog.count(*)::int as count from running`;
