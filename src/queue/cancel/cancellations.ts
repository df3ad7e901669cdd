// Requests to cancel running jobs. A request is a row of _private_cancellations. The worker that runs the job reads the
// row and aborts the job's signal.
import { type Database, query, type Statement } from "../../database/database.ts";
import { MAX_REASON_LENGTH, startOfText } from "../../database/unpacked.ts";
import { contendedQuery } from "../sql/contended-query.ts";

const reason = startOfText("requests.reason", MAX_REASON_LENGTH);

export const CANCELLED_TEXT = `'cancelled'::text || coalesce(': '::text || ${reason}, ''::text)`;

/** A request to cancel a job. `id`: the job's id. `by`: the user, if one was given. */
export interface Cancellation {
  readonly id: string;
  readonly reason: string | null;
  readonly by: string | null;
}

export interface CancelRequests {
  readonly found: readonly Cancellation[];
  /** Whether endCancellations() has work, for these or other jobs. */
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

// A request is void if a retry, or an add with the job's key, has given the job new attempts after the request. The end
// of an attempt does not make a request void: if the job is given back or snoozes, `updated_at` does not change; after
// a failure, `attempts` is at least 1, and in the next attempt at least 2.
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
 * Removes up to 1,000 requests that are void, or whose job is not locked or does not exist, and returns their number.
 * If a request is not void and its job waits for another attempt, the job fails. If another transaction has locked the
 * job's row, the job is left to a later call.
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
