// Takes ready jobs for a worker: the one statement that every poll, notification and refill runs.
// What it must agree on with every other worker on the schema stands in its comments; why it is
// shaped like this, and what it costs, too.
import type { Statement } from "../database/database.ts";
import { CLAIMED_SOURCE, type ClaimedColumns, claimedColumns } from "./claimed-rows.ts";

/** Which form of the statement a worker needs; each form is one prepared statement. */
export interface ClaimForm {
  /** Also look at jobs in named queues. */
  readonly queues: boolean;
  /** Skip jobs with a flag of the last parameter. Reads the heap, so only where there are forbidden flags. */
  readonly flags: boolean;
  /** Of the jobs without a queue only those with a key: the fast lane takes the others. */
  readonly keyedOnly: boolean;
  /** Payloads as JSON strings of their exact text, instead of as JSON values. */
  readonly rawPayloads: boolean;
}

/** What a claim gives beside its jobs. */
export interface ClaimAnswer extends ClaimedColumns {
  /** The claim's moment by the database's clock, seconds since the epoch. */
  readonly now_s: number;
  /** Some named queue is free. */
  readonly queues: boolean;
  /** Those of $4 that were no longer ours: `{1,2}`; null = none. */
  readonly lost: string | null;
}

/*
 * $1 text[]    identifiers of the tasks this worker knows
 * $2 int       most jobs to take
 * $3 text      the worker's id
 * $4 bigint[]  jobs this worker has finished: deleted in the same transaction, so that a full pass
 *              of work costs one commit. Fenced: only where the lock is still ours.
 * $5 smallint  $6 float8  low-water mark: jobs before (priority, run_at) are taken or taken soon.
 *              Under a held xmin the dead index entries of finished jobs stay; without the mark
 *              each fetch would walk over all of them.
 * $7 int       most jobs of one named queue (a queue run), unless there are so few queues that an
 *              equal share of $2 is more (only in the form with queues)
 * last text[]  forbidden flags (only in the form with flags)
 *
 * `level`: jobs_main_index leads with priority, so `run_at <= now()` alone does not bound a scan:
 * it would walk every scheduled job of every priority. We jump from priority to priority (a loose
 * index scan) and probe each one.
 *
 * `free`: jobs without a queue. They are locked while the limit counts, so that two lanes that look
 * at once take different jobs instead of both the same.
 */
const free = (s: string, form: ClaimForm) => `
with recursive done as (
  delete from ${s}._private_jobs where id = any($4::bigint[]) and locked_by = $3::text returning id
), level (priority) as (
  (select priority from ${s}._private_jobs
    where is_available ${sameIndex(form)}
      and (priority, run_at) >= ($5::smallint, to_timestamp($6::float8))
    order by priority limit 1)
  union all
  select (select j.priority from ${s}._private_jobs j
    where j.is_available ${sameIndex(form)} and j.priority > level.priority
    order by j.priority limit 1)
  from level where level.priority is not null
), free as materialized (
  select f.* from level cross join lateral (
    select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at from ${s}._private_jobs j
    where j.is_available and j.job_queue_id is null and j.priority = level.priority
      and j.run_at <= now()
      and j.run_at >= case when level.priority = $5::smallint then to_timestamp($6::float8)
                           else '-infinity' end
      and j.task_id = any(array(
        select t.id from ${s}._private_tasks t where t.identifier = any($1::text[])))
      ${form.keyedOnly ? keyedTest(s) : ""}
      ${flagTest(form)}
    order by j.run_at limit $2::int for update skip locked) f
  where level.priority is not null limit $2::int
)`;

// No index has the key, so only the head of each priority is looked at: the fast lane works off what
// stands before a job with a key, until that is at the head, too.
const keyedTest = (s: string) => `and j.key is not null and j.ctid = any(array(
        select head.ctid from (
          select h.ctid, h.key from ${s}._private_jobs h
          where h.is_available and h.job_queue_id is null and h.priority = level.priority
            and h.run_at <= now() order by h.run_at limit ${HEAD_JOBS}) head
        where head.key is not null))`;
const HEAD_JOBS = 2_000;

// Without queued jobs the whole claim can stay on jobs_no_queue_index. Reading a second index costs
// 50 B of WAL a job: full-page images of its hint bits, where data checksums are on.
const sameIndex = (form: ClaimForm) => (form.queues ? "" : "and job_queue_id is null");

const flagTest = (form: ClaimForm) =>
  form.flags ? `and (j.flags is null or not j.flags ?| $${form.queues ? 8 : 7}::text[])` : "";

/*
 * Jobs in named queues. A queue is locked once for a run of its jobs, which follow one after
 * another: without that a queue does one job a round trip.
 *
 * `edge`: where the free jobs already fill the claim, queued jobs behind the last of them cannot
 * be part of it; so the scan for them (no index has them alone) ends there. Before its moment, not
 * with it: a million jobs added at once have the same one.
 * `queue_lock`: only queues of candidates are locked, in id order, so that two claims cannot wait
 * for each other in a ring.
 * `chain`: the candidates are from our snapshot; what another worker did with a queue since then
 * is seen by the row locks, which test is_available again.
 */
const queued = (s: string, form: ClaimForm) => `, edge as (
  select priority, run_at from free where (select count(*) from free) >= $2::int
  order by priority desc, run_at desc limit 1
), candidate as materialized (
  select c.* from level cross join lateral (
    select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at from ${s}._private_jobs j
    where j.is_available and j.job_queue_id is not null and j.priority = level.priority
      and j.run_at <= now()
      and j.run_at < coalesce((select case when edge.priority > level.priority then 'infinity'
                                       else edge.run_at end from edge), 'infinity')
      and j.task_id = any(array(
        select t.id from ${s}._private_tasks t where t.identifier = any($1::text[])))
      and exists (select from ${s}._private_job_queues q
        where q.id = j.job_queue_id and q.is_available)
      ${flagTest(form)}
    order by j.run_at limit $2::int) c
  where level.priority is not null
    and level.priority <= coalesce((select priority from edge), 32767) limit $2::int
), queue_lock as materialized (
  select id from ${s}._private_job_queues
  where is_available and id = any(array(select distinct job_queue_id from candidate))
  order by id for update skip locked
), chain as materialized (
  select ctid from (
    select c.ctid, c.job_queue_id,
      row_number() over (partition by job_queue_id order by priority, run_at, id) as place
    from candidate c) ranked
  where place <= greatest($7::int, $2::int / (select greatest(count(*), 1) from queue_lock))
    and job_queue_id in (select id from queue_lock)
), chain_lock as materialized (
  select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at from ${s}._private_jobs j
  where j.ctid = any(array(select ctid from chain)) and j.is_available for update skip locked
), picked as materialized (
  select * from (select * from free union all select * from chain_lock) either
  order by priority, run_at, id limit $2::int
)`;

// Of the jobs that were taken, not of those that were picked: a queue without one is never freed.
const queuesTaken = (s: string) => `, queue_taken as (
  update ${s}._private_job_queues set locked_by = $3::text, locked_at = now()
  where id = any(array(select job_queue_id from taken where job_queue_id is not null))
)`;

const take = (s: string, form: ClaimForm) => `, taken as (
  update ${s}._private_jobs j
  set attempts = j.attempts + 1, locked_by = $3::text, locked_at = now()
  where j.ctid = any(array(select ctid from ${form.queues ? "picked" : "free"}))
  returning ${CLAIMED_SOURCE}
)${form.queues ? queuesTaken(s) : ""}
select date_part('epoch', now()) as now_s,
  exists (select from ${s}._private_job_queues where is_available) as queues,
  case when (select count(*) from done) < cardinality($4::bigint[]) then
    array(select unnest($4::bigint[]) except select id from done)::text end as lost,
  ${claimedColumns({ attempts: "j.attempts", queues: form.queues, raw: form.rawPayloads })}
from taken j`;

/** The statement's text for a form. */
export function claimStatement(form: ClaimForm): Statement {
  return (schema) =>
    `${free(schema, form)}${form.queues ? queued(schema, form) : ""}${take(schema, form)}`;
}
