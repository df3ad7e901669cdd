// The fast lane's statements. Jobs are taken by row locks of an open transaction instead of an
// update: a third of the WAL, half the work. They are free the moment the connection is gone, and
// nobody but the holder sees that they are taken. For short jobs without a key.
import { type Database, query, type Statement } from "../database/database.ts";
import { type ClaimedColumns, claimedColumns, claimedSource } from "./claimed-rows.ts";
import { freeJobs, levels, type ReadyForm, readyJobs } from "./ready-jobs.ts";
import { type Failure, parseIdArray } from "./settle-jobs.ts";

export interface LockForm {
  /** Also take runs of named queues. */
  readonly queues: boolean;
  readonly flags: boolean;
}

export interface LockAnswer extends ClaimedColumns {
  /** Queued jobs were seen. */
  readonly queued: boolean;
  /** Not all of them have been taken. */
  readonly more: boolean;
  /** Some have a key: they are for the ordinary lanes. */
  readonly keyed: boolean;
}

/*
 * $1 text[] tasks  $2 int most jobs  $3 smallint $4 float8 low-water mark
 * with queues: $5 int $6 int which share of the queues  $7 int jobs that can start at once
 * last: text[] forbidden flags
 *
 * Without keyed jobs: adding a job with the key of a row-locked one would wait for our commit.
 * `attempts + 1` is what the attempt is told; it is stored only if it fails.
 */
export function lockStatement({ queues, flags }: LockForm): Statement {
  const form: ReadyForm = { queues, flags, free: "unkeyed", queued: "unkeyed" };
  const $ = {
    identifiers: "$1",
    want: "$2",
    priority: "$3",
    runAt: "$4",
    run: "null",
    share: "$5",
    shares: "$6",
    slots: "$7",
    flags: queues ? "$8" : "$5",
  };
  const columns = claimedColumns(form);
  const source = claimedSource("j.attempts + 1");
  if (queues) {
    return (s) => `
with recursive ${readyJobs(s, form, $)}, taken as materialized (
  select ${source} from ${s}._private_jobs j where j.ctid = any(array(select ctid from picked))
)
select ${columns}, ${SEEN} from taken j`;
  }
  return (s) => `
with recursive ${levels(s, form, $)}, taken as materialized (${freeJobs(s, form, $, source)})
select ${columns}, false as queued, false as more, false as keyed from taken j`;
}

const SEEN = `exists (select from candidate) as queued,
  (select count(*) from candidate) > (select count(*) from chain_lock) as more,
  exists (select from candidate where is_keyed) as keyed`;

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
with kept as (
  update ${s}._private_jobs set attempts = attempts + 1, locked_by = $1::text, locked_at = now()
  where id = any($2::bigint[]) returning job_queue_id
)
update ${s}._private_job_queues set locked_by = $1::text, locked_at = now()
where id in (select job_queue_id from kept)`;

/** Takes the classic lock on jobs that take longer than a transaction should, and on their queues. */
export async function keepJobs(
  db: Database,
  workerId: string,
  ids: readonly string[],
): Promise<void> {
  await query(db, keepSql, [workerId, ids]);
}
