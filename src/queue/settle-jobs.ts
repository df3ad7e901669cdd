// What a worker says about jobs it has claimed: done, failed, not started after all. Every
// statement is fenced by `locked_by`: a worker that lost its lease cannot finish what is no longer
// its own, and learns which jobs those were.
import { type Database, query } from "../database/database.ts";

/** A claimed job that failed. */
export interface Failure {
  readonly id: string;
  readonly message: string;
  /** JSON text that replaces the payload: what is left of a batch. null keeps it. */
  readonly payload: string | null;
  /** Uses up all attempts. */
  readonly permanent: boolean;
}

const doneSql = (s: string) => `
with done as (
  delete from ${s}._private_jobs where id = any($2::bigint[]) and locked_by = $1::text returning id
), freed as (
  update ${s}._private_job_queues set locked_by = null, locked_at = null
  where id = any($3::int[]) and locked_by = $1::text
)
select array(select unnest($2::bigint[]) except select id from done)::text[] as lost`;

/** Deletes finished jobs and lets their queues go. Gives the ids whose lease was lost. */
export async function finishJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
  queueIds: readonly number[],
): Promise<string[]> {
  return lost(await query<Lost>(db, doneSql, [workerId, ids, queueIds]));
}

// Graphile Worker's backoff: exp(least(attempts, 10)) seconds from now or from run_at, whichever is
// later. `attempts` was raised when the job was taken.
const failSql = (s: string) => `
with failure as (
  select * from unnest($2::bigint[], $3::text[], $4::text[], $5::boolean[])
    as f (id, message, payload, permanent)
), failed as (
  update ${s}._private_jobs j
  set last_error = f.message,
    payload = coalesce(f.payload::json, j.payload),
    attempts = case when f.permanent then j.max_attempts else j.attempts end,
    run_at = greatest(now(), j.run_at) + exp(least(j.attempts, 10)) * interval '1 second',
    locked_by = null, locked_at = null
  from failure f where j.id = f.id and j.locked_by = $1::text
  returning j.id
), freed as (
  update ${s}._private_job_queues set locked_by = null, locked_at = null
  where id = any($6::int[]) and locked_by = $1::text
)
select array(select id from failure except select id from failed)::text[] as lost`;

/** Records failures and lets their queues go. Gives the ids whose lease was lost. */
export async function failJobs(
  db: Database,
  workerId: string,
  failures: readonly Failure[],
  queueIds: readonly number[],
): Promise<string[]> {
  return lost(
    await query<Lost>(db, failSql, [
      workerId,
      failures.map((failure) => failure.id),
      failures.map((failure) => storable(failure.message)),
      failures.map((failure) => failure.payload),
      failures.map((failure) => failure.permanent),
      queueIds,
    ]),
  );
}

// The attempt never began, so it is given back: it must not count towards max_attempts.
const returnSql = (s: string) => `
with returned as (
  update ${s}._private_jobs
  set attempts = greatest(0, attempts - 1), locked_by = null, locked_at = null
  where id = any($2::bigint[]) and locked_by = $1::text returning id
), freed as (
  update ${s}._private_job_queues set locked_by = null, locked_at = null
  where id = any($3::int[]) and locked_by = $1::text
)
select array(select unnest($2::bigint[]) except select id from returned)::text[] as lost`;

/** Gives jobs back that were claimed but never started. Gives the ids whose lease was lost. */
export async function returnJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
  queueIds: readonly number[],
): Promise<string[]> {
  return lost(await query<Lost>(db, returnSql, [workerId, ids, queueIds]));
}

// After a connection was lost in the middle of a claim nobody knows whether it had committed: jobs
// that are locked by us and that we never received are given back. No index has locked_by, so this
// is a scan, and only runs after such a loss.
const unknownSql = (s: string) => `
with returned as (
  update ${s}._private_jobs
  set attempts = greatest(0, attempts - 1), locked_by = null, locked_at = null
  where not is_available and locked_by = $1::text and id <> all($2::bigint[])
  returning job_queue_id
), freed as (
  update ${s}._private_job_queues set locked_by = null, locked_at = null
  where locked_by = $1::text and id <> all($3::int[])
)
select count(*)::int as count from returned`;

/** Gives back what is locked by this worker but is not among `ids`; gives their number. */
export async function returnUnknownJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
  queueIds: readonly number[],
): Promise<number> {
  const rows = await query<{ count: number }>(db, unknownSql, [workerId, ids, queueIds]);
  return rows[0]?.count ?? 0;
}

type Lost = { lost: string };

/** PostgreSQL's array text `{1,2}`: ids only, so no quoting can occur. */
function lost(rows: Lost[]): string[] {
  return parseIdArray(rows[0]?.lost);
}

/** `{1,2}` → `["1", "2"]`; null → none. */
export function parseIdArray(text: string | null | undefined): string[] {
  return text == null || text === "{}" ? [] : text.slice(1, -1).split(",");
}

const LONGEST_ERROR_CHARACTERS = 65_536;

/** PostgreSQL text holds no NUL and no lone surrogates, and an endless error helps nobody. */
function storable(message: string): string {
  return message.slice(0, LONGEST_ERROR_CHARACTERS).replaceAll("\0", "").toWellFormed();
}
