// The statement that stores requests to cancel running jobs. Workers read them in queue/cancel/cancellations.ts.
import { announceCancel } from "../../queue/pauses/pause.ts";

/**
 * Common table expressions that store requests to cancel running jobs. `ids`: a query of their ids; `reason` and `by`:
 * expressions. The running attempt becomes the last one, so that even a worker that reads no requests does not retry
 * the job. For this, max_attempts is lowered to attempts, as for a permanent failure, and attempts stays correct. Rows
 * that another session has locked are skipped, because they may be rows of the fast mode.
 *
 * The announcement names the worker, so that other workers read nothing. For a job of the fast mode, whose row has no
 * worker, it names none.
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
