// Requests to cancel running jobs. A request is a row of _private_cancellations: the worker that runs the job reads
// it and aborts the job's signal. A job that a request finds unstarted fails without a start. Requests are removed
// when their job has ended.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasControls } from "../../database/schema/extensions/has-controls.ts";
import { isCancelled } from "../../domain/words.ts";
import { CONTROL } from "../pauses/pause.ts";

export const CANCELLED_TEXT =
  "'cancelled'::text || coalesce(': '::text || requests.reason, ''::text)";

/**
 * Common tables that request to cancel jobs which run. `ids`: a query of their ids; `reason` and `by`: expressions.
 * The attempt becomes the last one, so that a worker that reads no requests does not retry the job. No row that
 * another session has locked is waited for: such a row may be one of the fast mode.
 */
export const cancelRequests = (
  s: string,
  ids: string,
  { reason, by }: { readonly reason: string; readonly by: string },
): string => `last as materialized (
    select locked.id from ${s}._private_jobs as locked
    where locked.id in (${ids}) and locked.locked_at is not null
    order by locked.id
    for update skip locked
  ), limited as (
    update ${s}._private_jobs as locked set attempts = locked.max_attempts
    where locked.id in (select last.id from last) and locked.attempts < locked.max_attempts
  ), requested as (
    insert into ${s}._private_cancellations as requests (job_id, requested_at, reason, requested_by)
    select running.id, pg_catalog.now(), ${reason}, ${by} from (${ids}) as running (id) order by running.id
    on conflict (job_id) do update set requested_at = excluded.requested_at,
      reason = coalesce(excluded.reason, requests.reason),
      requested_by = coalesce(excluded.requested_by, requests.requested_by)
    returning pg_catalog.pg_notify('${CONTROL}', 'cancel')
  )`;

/** A request that a worker has read. */
export interface Cancellation {
  readonly id: string;
  readonly reason: string | null;
  readonly by: string | null;
}

export interface CancellationLook {
  readonly found: readonly Cancellation[];
  /** There are requests of jobs that do not run: endCancellations() has something to do. */
  readonly hasOver: boolean;
}

interface LookRow {
  readonly found: string;
  readonly has_over: boolean;
}

/** The requests that concern these jobs. Throws if the schema has no table of requests. */
export async function lookAtCancellations(
  db: Database,
  ids: readonly string[],
): Promise<CancellationLook> {
  const [row] = await query<LookRow>(db, lookSql, [ids]);
  const found = JSON.parse(row?.found ?? "[]") as [string, string | null, string | null][];
  return {
    found: found.map(([id, reason, by]) => ({ id, reason, by })),
    hasOver: row?.has_over === true,
  };
}

/** Returns the requests to cancel these jobs, by job id. None where the schema has no table of requests. */
export async function readCancellations(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Cancellation>> {
  if (ids.length === 0 || !(await hasControls(db))) return new Map();
  const { found } = await lookAtCancellations(db, ids);
  return new Map(found.map((one) => [one.id, one]));
}

/** `being cancelled: deploy, by ana`. */
export function beingCancelled({ reason, by }: Cancellation): string {
  const why = reason === null ? "" : `: ${reason}`;
  const user = by === null ? "" : `${reason === null ? "" : ","} by ${by}`;
  return `being cancelled${why}${user}`;
}

// The job has got new attempts since the request: it was retried, or replaced by its key. A return of an unstarted
// job writes no updated_at, and every other end of an attempt leaves more than one attempt or none to follow.
const IS_VOID = `jobs.updated_at > requests.requested_at
    and jobs.attempts <= case when jobs.locked_at is null then 0 else 1 end`;

const lookSql: Statement = (s) => `
select
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      requests.job_id::text, requests.reason, requests.requested_by)), '[]')::text
    from ${s}._private_cancellations as requests
    join ${s}._private_jobs as jobs on jobs.id = requests.job_id
    where requests.job_id = any($1::bigint[]) and not (${IS_VOID})) as found,
  exists (
    select from ${s}._private_cancellations as requests
    left join ${s}._private_jobs as jobs on jobs.id = requests.job_id
    where jobs.locked_at is null or ${IS_VOID}) as has_over`;

/**
 * Removes requests whose job has ended, and fails jobs that came back unstarted; at most 1,000. Rows that another
 * session has locked, such as those of the fast mode, are left to a later call. Returns the number of removed requests.
 */
export async function endCancellations(db: Database): Promise<number> {
  const [row] = await query<{ ended: number }>(db, endSql);
  return row?.ended ?? 0;
}

// A recovered job has failed because its attempt was the last: the request is the reason.
const endSql: Statement = (s) => `
with over as materialized (
  select requests.job_id, jobs.id is null as is_gone, coalesce(${IS_VOID}, false) as is_void,
    ${CANCELLED_TEXT} as message
  from ${s}._private_cancellations as requests
  left join ${s}._private_jobs as jobs on jobs.id = requests.job_id
  where jobs.locked_at is null or ${IS_VOID}
  order by requests.job_id limit 1000
), free as materialized (
  select jobs.id from ${s}._private_jobs as jobs
  where jobs.id = any(array(select job_id from over where not is_gone and not is_void)) and jobs.locked_at is null
  order by jobs.id for update skip locked
), failed as (
  update ${s}._private_jobs as jobs
  set attempts = jobs.max_attempts, last_error = over.message, updated_at = pg_catalog.now()
  from over
  where jobs.id = over.job_id and jobs.id in (select id from free)
  and (jobs.attempts < jobs.max_attempts or jobs.last_error like 'Recovered%')
), ended as (
  delete from ${s}._private_cancellations as requests
  using over
  where requests.job_id = over.job_id and (over.is_gone or over.is_void or over.job_id in (select id from free))
  returning 1
)
select pg_catalog.count(*)::int as ended from ended`;

/** What became of a job that was to be cancelled. */
export type CancelOutcome =
  /** It has failed as cancelled, and does not run again. */
  | "cancelled"
  /** It is gone: its task returned before or in spite of the signal. */
  | "completed"
  /** It has failed with an error of its own, and does not run again. */
  | "failed"
  /** It still runs, or waits for a worker to end it. */
  | "running";

export interface CancelResult {
  readonly id: string;
  readonly outcome: CancelOutcome;
}

interface OutcomeRow {
  readonly id: string;
  readonly is_there: boolean;
  readonly is_over: boolean;
  readonly error: string | null;
}

/** Returns the present outcome of each job, in the order of the ids. */
export async function cancelOutcomes(
  db: Database,
  ids: readonly string[],
): Promise<CancelResult[]> {
  const rows = await query<OutcomeRow>(db, outcomesSql, [ids]);
  return rows.map(({ id, is_there: isThere, is_over: isOver, error }) => {
    if (!isThere) return { id, outcome: "completed" };
    if (!isOver) return { id, outcome: "running" };
    return { id, outcome: isCancelled(error ?? "") ? "cancelled" : "failed" };
  });
}

const outcomesSql: Statement = (s) => `
select asked.id::text as id, jobs.id is not null as is_there,
  coalesce(jobs.locked_at is null and jobs.attempts >= jobs.max_attempts, false) as is_over,
  pg_catalog.left(jobs.last_error, 20) as error
from pg_catalog.unnest($1::bigint[]) with ordinality as asked (id, place)
left join ${s}._private_jobs as jobs on jobs.id = asked.id
order by asked.place`;
