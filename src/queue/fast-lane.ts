// The fast lane's statements. Jobs are taken by row locks of an open transaction instead of an
// update: a third of the WAL, half the work. They are free the moment the connection is gone, and
// nobody but the holder sees that they are taken. For short jobs without a key and without a queue.
import { type Database, query, type Statement } from "../database/database.ts";
import { type ClaimedColumns, ClaimedRows, claimedColumns } from "./claimed-rows.ts";
import { type Failure, parseIdArray } from "./settle-jobs.ts";

/*
 * $1 text[] tasks  $2 int most jobs  $3 smallint $4 float8 low-water mark  [$5 text[] forbidden flags]
 *
 * As `free` in claim-jobs.ts, but for the key: adding a job with the key of a row-locked one would
 * wait for our commit. `attempts + 1` is what the attempt is told; it is stored only if it fails.
 */
export const lockStatement =
  (form: { readonly flags: boolean; readonly rawPayloads: boolean }): Statement =>
  (s) =>
    `
with recursive level (priority) as (
  (select priority from ${s}._private_jobs
    where is_available and job_queue_id is null and (priority, run_at) >= ($3::smallint, to_timestamp($4::float8))
    order by priority limit 1)
  union all
  select (select j.priority from ${s}._private_jobs j
    where j.is_available and j.job_queue_id is null and j.priority > level.priority order by j.priority limit 1)
  from level where level.priority is not null
)
select ${claimedColumns({ attempts: "j.attempts + 1", queues: false, raw: form.rawPayloads })}
from (
  select f.* from level cross join lateral (
    select j.* from ${s}._private_jobs j
    where j.is_available and j.job_queue_id is null and j.key is null
      and j.priority = level.priority and j.run_at <= now()
      and j.run_at >= case when level.priority = $3::smallint then to_timestamp($4::float8)
                           else '-infinity' end
      and j.task_id = any(array(
        select t.id from ${s}._private_tasks t where t.identifier = any($1::text[])))
      ${form.flags ? "and (j.flags is null or not j.flags ?| $5::text[])" : ""}
    order by j.run_at limit $2::int for update skip locked) f
  where level.priority is not null limit $2::int) j`;

/** Reads the statement's answer. */
export function lockedRows(answer: readonly ClaimedColumns[]): ClaimedRows {
  return new ClaimedRows(answer[0] as ClaimedColumns);
}

// Rows of this transaction are not locked_by anybody; those that took too long are locked_by us.
const OURS = "(locked_by is null or locked_by = $1::text)";

const finishSql: Statement = (s) => `
with done as (
  delete from ${s}._private_jobs where id = any($2::bigint[]) and ${OURS} returning id
)
select case when (select count(*) from done) < cardinality($2::bigint[]) then
  array(select unnest($2::bigint[]) except select id from done)::text end as lost`;

/** Deletes finished jobs. Gives the ids whose lease was lost. */
export async function finishFastJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await query<{ lost: string | null }>(db, finishSql, [
    workerId,
    `{${ids.join(",")}}`,
  ]);
  return parseIdArray(rows[0]?.lost);
}

// The attempt of a row-locked job has not been counted yet. Backoff as in settle-jobs.ts.
const failSql: Statement = (s) => `
update ${s}._private_jobs j
set last_error = f.message,
  payload = coalesce(f.payload::json, j.payload),
  attempts = j.attempts + (j.locked_by is null)::int,
  run_at = greatest(now(), j.run_at)
    + exp(least(j.attempts + (j.locked_by is null)::int, 10)) * interval '1 second',
  locked_by = null, locked_at = null
from unnest($2::bigint[], $3::text[], $4::text[]) as f (id, message, payload)
where j.id = f.id and ${OURS.replaceAll("locked_by", "j.locked_by")}`;

/** Records failures. */
export async function failFastJobs(
  db: Database,
  workerId: string,
  failures: readonly Failure[],
): Promise<void> {
  await query(db, failSql, [
    workerId,
    failures.map(({ id }) => id),
    failures.map(({ message }) => message.slice(0, 65_536).replaceAll("\0", "").toWellFormed()),
    failures.map(({ payload }) => payload),
  ]);
}

const keepSql: Statement = (s) => `
update ${s}._private_jobs set attempts = attempts + 1, locked_by = $1::text, locked_at = now()
where id = any($2::bigint[])`;

/** Takes the classic lock on jobs that take longer than a transaction should. */
export async function keepJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
): Promise<void> {
  await query(db, keepSql, [workerId, ids]);
}
