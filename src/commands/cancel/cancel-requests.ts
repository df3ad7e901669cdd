// Builds the part of a statement that stores requests to cancel running jobs. queue/cancel/cancellations.ts reads them
// for workers.
import { announceCancel } from "../../queue/pauses/pause.ts";

/**
 * Returns common table expressions that store a request for each job. `ids`: a query of the jobs' ids. `reason` and
 * `by`: SQL expressions. The running attempt becomes the last one, so that the job is not retried even if its worker
 * reads no requests. For this, max_attempts is lowered to attempts, but not below 1, as after a permanent failure
 * (queue/settle/fail.ts). A row that another session has locked, such as the row of a job in the fast mode, is skipped,
 * so the job keeps its max_attempts.
 *
 * The announcement names the worker of the job, so that other workers do not read the requests. The row of a job in the
 * fast mode names no worker, so all workers read the requests.
 */
export const cancelRequests = (
  s: string,
  ids: string,
  { reason, by }: { readonly reason: string; readonly by: string },
): string => `locked_row as materialized (
    select locked.id from ${s}._private_jobs as locked
    where locked.id in (${ids}) and locked.locked_at is not null
    order by locked.id
    for update skip locked
  ), last_attempt as (
    update ${s}._private_jobs as locked set max_attempts = greatest(1::smallint, locked.attempts)
    where locked.id in (select locked_row.id from locked_row) and locked.attempts < locked.max_attempts
  ), requested as (
    insert into ${s}._private_cancellations as requests (job_id, requested_at, reason, requested_by)
    select running.id, pg_catalog.now(), ${reason}, ${by} from (${ids}) as running (id) order by running.id
    on conflict (job_id) do update set requested_at = excluded.requested_at,
      reason = coalesce(excluded.reason, requests.reason),
      requested_by = coalesce(excluded.requested_by, requests.requested_by)
    returning ${announceCancel(`(select locked_by from ${s}._private_jobs as locked where locked.id = requests.job_id)`)}
  )`;
