// The statement that undoes an operation for one batch of jobs. A changed job is restored if it is still as the
// operation left it. A deleted job is inserted again unless its id or key is in use. If a job is not restored, the
// reason is stored.
import { announceJobs } from "../../../queue/sql/notify.ts";
import {
  type AddParameter,
  asLeftBy,
  isDeletion,
  type JobChange,
  parameters,
  restoredColumns,
} from "../../before-images/job-change.ts";
import type { UndoStretch } from "../model/operation-store.ts";
import type { BuiltStatement, Claim } from "./batch-statement.ts";
import { rowsAfter } from "./rows-after.ts";

export function undoStatement(
  s: string,
  change: JobChange,
  { afterId, limit }: UndoStretch,
  claim: Claim,
): BuiltStatement {
  const { values, parameter } = parameters();
  const operation = parameter(claim.operationId, "bigint");
  const after = parameter(afterId, "bigint");
  const most = parameter(limit, "int");
  const text = `
  with mine as materialized (
    select from ${s}._private_operations
    where id = ${operation} and owner = ${parameter(claim.owner, "text")}
    and state = 'undoing' and undo_after_id = ${after}
    for update
  ), batch as materialized (
    select images.*
    from ${s}._private_operation_rows as images
    where ${rowsAfter("images", operation, after)} and exists (select from mine)
    order by images.operation_id, images.job_id
    limit ${most}
  ), ${isDeletion(change) ? putBack(s) : changedBack(s, change, parameter)}, announced as materialized (
    select ${announceJobs("pg_catalog.count(*)")} from restored having pg_catalog.count(*) > 0
  ), left_alone as materialized (
    select batch.job_id, ${isDeletion(change) ? WHY_NOT_BACK : whyNotChanged(change, asLeftBy(change, parameter))}::"char" as why
    from batch
    left join ${s}._private_jobs as jobs on jobs.id = batch.job_id
    where batch.outcome = 'd' and batch.job_id not in (select id from restored)
  ), noted as (
    update ${s}._private_operation_rows as images
    set undo_outcome = left_alone.why
    from left_alone
    where images.operation_id = ${operation} and images.job_id = left_alone.job_id
  ), tally as materialized (
    select
      (select pg_catalog.count(*) from batch) as found,
      (select pg_catalog.max(job_id) from batch) as last_id,
      (select pg_catalog.count(*) from restored) as done,
      pg_catalog.count(*) filter (where why = 'k') as key_taken,
      pg_catalog.count(*) filter (where why = 'c') as changed,
      pg_catalog.count(*) filter (where why = 'g') as gone,
      pg_catalog.count(*) filter (where why = 'l') as locked
    from left_alone
  ), moved as (
    update ${s}._private_operations as operation
    set
      undo_after_id = coalesce(tally.last_id, operation.undo_after_id),
      undone = operation.undone + tally.done,
      undo_key_taken = operation.undo_key_taken + tally.key_taken,
      undo_changed = operation.undo_changed + tally.changed,
      undo_gone = operation.undo_gone + tally.gone,
      undo_locked = operation.undo_locked + tally.locked,
      lease_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => ${parameter(claim.leaseS, "int")}),
      rate_per_s = ${parameter(claim.ratePerS, "int")},
      eta_s = ${parameter(claim.etaS, "int")}
    from tally, mine
    where operation.id = ${operation}
    returning operation.undo_after_id as after_id, operation.undo_key_taken,
      operation.undo_changed, operation.undo_gone, operation.undo_locked
  )
  select tally.found::int, tally.done::int, moved.*,
    (select pg_catalog.count(*) from announced)::int as announced
  from tally left join moved on true`;
  return { text, values };
}

/**
 * Why a job was not restored: `g` gone, `l` locked, `c` changed. If the state at the start of the statement shows no
 * reason, another session has locked or changed the row. The reason is then `l`.
 */
const whyNotChanged = ({ mayRun }: JobChange, asLeft: string): string => `case
        when jobs.id is null then 'g'${mayRun ? "" : "\n        when jobs.locked_at is not null then 'l'"}
        when not (${asLeft}) then 'c'
        else 'l'
      end`;

/**
 * Why a deleted job was not restored. `c`: a job with its id exists, perhaps not yet visible in `jobs`. `k`: another
 * job has its key.
 */
const WHY_NOT_BACK = `case when jobs.id is not null or batch.key is null then 'c' else 'k' end`;

/**
 * Returns the SQL condition under which an undo would restore a job. `batch`: the job's stored row. `jobs`: its present
 * row, with null columns if the job no longer exists.
 */
export function mayBeRestored(s: string, change: JobChange, parameter: AddParameter): string {
  if (isDeletion(change)) {
    return `jobs.id is null and not exists (
        select from ${s}._private_jobs as others where others.key = batch.key
      )`;
  }
  const isFree = change.mayRun ? "" : "jobs.locked_at is null and ";
  return `${isFree}${asLeftBy(change, parameter)}`;
}

const changedBack = (
  s: string,
  change: JobChange,
  parameter: AddParameter,
): string => `locked_jobs as materialized (
    select jobs.id
    from batch
    join ${s}._private_jobs as jobs on jobs.id = batch.job_id
    where batch.outcome = 'd'${change.mayRun ? "" : " and jobs.locked_at is null"}
    and ${asLeftBy(change, parameter)}
    order by jobs.id
    for update of jobs skip locked
  ), restored as (
    update ${s}._private_jobs as jobs
    set ${restoredColumns(change).join(", ")}
    from batch
    join locked_jobs on locked_jobs.id = batch.job_id
    where jobs.id = locked_jobs.id
    returning jobs.id
  )`;

/** Finds each job's task and named queue by name, because their ids may have changed. */
const putBack = (s: string): string => `restored as (
    insert into ${s}._private_jobs (
      id, job_queue_id, task_id, payload, priority, run_at, attempts, max_attempts, last_error,
      created_at, updated_at, key, revision, flags
    )
    overriding system value
    select
      batch.job_id, coalesce(queues.id, batch.job_queue_id), coalesce(tasks.id, batch.task_id),
      batch.payload, batch.priority, batch.run_at, batch.attempts, batch.max_attempts,
      batch.last_error, batch.created_at, batch.updated_at, batch.key, batch.revision, batch.flags
    from batch
    left join ${s}._private_tasks as tasks on tasks.identifier = batch.task_identifier
    left join ${s}._private_job_queues as queues on queues.queue_name = batch.queue_name
    where batch.outcome = 'd'
    order by batch.job_id
    on conflict do nothing
    returning id
  )`;

/** Returns the statement that inserts the missing tasks and named queues of deleted jobs, before undoStatement(). */
export function namesStatement(
  s: string,
  operationId: string,
  { afterId, limit }: UndoStretch,
): BuiltStatement {
  const text = `
  with batch as materialized (
    select images.task_identifier, images.queue_name
    from ${s}._private_operation_rows as images
    where ${rowsAfter("images", "$1::bigint", "$2::bigint")}
    order by images.operation_id, images.job_id
    limit $3::int
  ), tasks as (
    insert into ${s}._private_tasks (identifier)
    select distinct task_identifier from batch
    where task_identifier is not null
    and not exists (select from ${s}._private_tasks where identifier = task_identifier)
    order by task_identifier
    on conflict do nothing
  )
  insert into ${s}._private_job_queues (queue_name)
  select distinct queue_name from batch
  where batch.queue_name is not null
  and not exists (
    select from ${s}._private_job_queues as queues where queues.queue_name = batch.queue_name
  )
  order by queue_name
  on conflict do nothing`;
  return { text, values: [operationId, afterId, limit] };
}
