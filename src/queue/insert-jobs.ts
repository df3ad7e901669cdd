// Inserts jobs without keys: one statement, twice as fast as the schema's function add_jobs, whose
// behaviour it repeats (tasks and queues come into being, workers are notified).
import type { Database, Statement } from "../database/database.ts";
import type { Job } from "../domain/job.ts";
import type { ResolvedJob } from "../domain/job-spec.ts";
import { contendedQuery } from "./contended-query.ts";
import { type JobRow, jobColumns, toJob } from "./job-row.ts";

/** Inserts the jobs and returns them in the same order; their ids ascend. */
export async function insertJobs(db: Database, specs: readonly ResolvedJob[]): Promise<Job[]> {
  const rows = await contendedQuery<JobRow>(db, insertSql, specArrays(specs));
  return rows.map(toJob);
}

/** One array for each column of a batch, as `specColumns` reads them. */
export function specArrays(specs: readonly ResolvedJob[]): unknown[][] {
  return [
    specs.map((spec) => spec.identifier),
    specs.map((spec) => spec.payload),
    specs.map((spec) => spec.queueName),
    specs.map((spec) => spec.runAt),
    specs.map((spec) => spec.maxAttempts),
    specs.map((spec) => spec.priority),
    specs.map((spec) => (spec.flags === null ? null : flagsText(spec.flags))),
  ];
}

/** Flags as they are stored: `{"name": true}`, and null for none. */
function flagsText(flags: readonly string[]): string | null {
  if (flags.length === 0) return null;
  return `{${flags.map((flag) => `${JSON.stringify(flag)}:true`).join(",")}}`;
}

// A batch is first in, first out although it has one now(): jobs without a run_at get one
// microsecond each, counted backwards so that none of them lies in the future.
/** The arrays of `specArrays` as rows, numbered from 1 in the order given. */
export const specColumns = `
  select
    identifier, payload::json as payload, queue_name,
    coalesce(
      run_at, now() - (cardinality($1::text[]) - n) * interval '1 microsecond'
    ) as run_at,
    coalesce(max_attempts, 25) as max_attempts, coalesce(priority, 0) as priority,
    flags::jsonb as flags, n
  from unnest(
    $1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::smallint[], $6::smallint[],
    $7::text[]
  ) with ordinality as
    given (identifier, payload, queue_name, run_at, max_attempts, priority, flags, n)`;

// "do update", not "do nothing": a task that another session inserts at this very moment is not
// visible to us, and only an update returns its id. Names are inserted in order, so that two
// batches with the same new names cannot deadlock. Ids are drawn after the sort by n.
const insertSql: Statement = (schema) => `
  with given as materialized (${specColumns}),
  known_tasks as (
    select id, identifier from ${schema}._private_tasks where identifier = any($1::text[])
  ), new_tasks as (
    insert into ${schema}._private_tasks as known (identifier)
    select distinct identifier from given
    where identifier not in (select identifier from known_tasks)
    order by identifier
    on conflict (identifier) do update set identifier = known.identifier
    returning id, identifier
  ), tasks as (
    select * from known_tasks union all select * from new_tasks
  ), known_queues as (
    select id, queue_name from ${schema}._private_job_queues where queue_name = any($3::text[])
  ), new_queues as (
    insert into ${schema}._private_job_queues as known (queue_name)
    select distinct queue_name from given
    where queue_name is not null and queue_name not in (select queue_name from known_queues)
    order by queue_name
    on conflict (queue_name) do update set queue_name = known.queue_name
    returning id, queue_name
  ), queues as (
    select * from known_queues union all select * from new_queues
  ), jobs as (
    insert into ${schema}._private_jobs
      (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags)
    select queues.id, tasks.id, payload, run_at, max_attempts, priority, flags
    from given
    join tasks on tasks.identifier = given.identifier
    left join queues on queues.queue_name = given.queue_name
    order by n
    returning *
  ), notified as materialized (
    select pg_notify(
      'jobs:insert',
      format('{"r":%s,"count":%s}', random(), cardinality($1::text[]))
    )
  )
  select ${jobColumns}
  from jobs
  cross join notified
  join tasks on tasks.id = jobs.task_id
  left join queues on queues.id = jobs.job_queue_id
  order by jobs.id`;
