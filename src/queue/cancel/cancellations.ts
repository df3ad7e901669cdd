// Requests to cancel running jobs. A request is a row of _private_cancellations. The worker that runs the job reads the
// row and aborts the job's signal. If the job then waits for another attempt, endCancellations() fails the job.
// endCancellations() also removes requests that are void (IS_VOID) or whose job is not locked.
import { type Database, query, type Statement } from "../../database/database.ts";
import { MAX_REASON_LENGTH, startOfText } from "../../database/unpacked.ts";
import { contendedQuery } from "../sql/contended-query.ts";

const reason = startOfText("requests.reason", MAX_REASON_LENGTH);

export const CANCELLED_TEXT = `'cancelled'::text || coalesce(': '::text || ${reason}, ''::text)`;

/** A request to cancel a job. `id`: the id of the job. `by`: the user, if one was given. */
export interface Cancellation {
  readonly id: string;
  readonly reason: string | null;
  readonly by: string | null;
}

export interface CancelRequests {
  readonly found: readonly Cancellation[];
  /** Whether endCancellations() has work: some request, for any job, is void, or its job is unlocked or deleted. */
  readonly hasEnded: boolean;
}

interface RequestsRow {
  readonly found: string;
  readonly has_over: boolean;
}

/** Returns the requests for these jobs, without void ones. Throws if the schema has no table of requests. */
export async function readCancelRequests(
  db: Database,
  ids: readonly string[],
): Promise<CancelRequests> {
  const [row] = await query<RequestsRow>(db, requestsSql, [ids]);
  const found = JSON.parse(row?.found ?? "[]") as [string, string | null, string | null][];
  return {
    found: found.map(([id, reason, by]) => ({ id, reason, by })),
    hasEnded: row?.has_over === true,
  };
}

// An SQL condition: the request is void, because a retry, or an add with the job's key, has given the job new attempts
// after the request. Such a job was updated after the request, and has had none of these attempts or is locked for the
// first. The end of an attempt alone does not make the condition true: giving back and snoozing keep updated_at, and
// the attempt after a failure is at least the second. Nor does an add that takes a running job's key: locked_at stays.
const IS_VOID = `jobs.updated_at > requests.requested_at
    and case when jobs.locked_at is null then jobs.attempts = 0
      else jobs.attempts <= 1 and jobs.locked_at > requests.requested_at end`;

const requestsSql: Statement = (s) => `
select
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      requests.job_id::text, ${reason}, ${startOfText("requests.requested_by")})), '[]')::text
    from ${s}._private_cancellations as requests
    join ${s}._private_jobs as jobs on jobs.id = requests.job_id
    where requests.job_id = any($1::bigint[]) and not (${IS_VOID})) as found,
  exists (
    select from ${s}._private_cancellations as requests
    left join ${s}._private_jobs as jobs on jobs.id = requests.job_id
    where jobs.locked_at is null or ${IS_VOID}) as has_over`;

/**
 * Removes up to 1,000 requests that are void, or whose job is not locked or does not exist. If a request is not void
 * and its job waits for another attempt, fails the job. If another transaction has locked the job's row, as in the fast
 * mode, the job is left to a later call. Returns the number of removed requests.
 */
export async function endCancellations(db: Database): Promise<number> {
  const [row] = await contendedQuery<{ ended: number }>(db, endSql, []);
  return row?.ended ?? 0;
}

// `like 'Recovered%'`: the error of a job whose worker became stale in the last attempt is replaced, too.
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
