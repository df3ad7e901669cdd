// Inserts jobs without keys: one statement, twice as fast as the schema's function add_jobs, whose
// behaviour it repeats (tasks and queues come into being, workers are notified).
import { WorkerError } from "../base/errors.ts";
import type { Database, Statement } from "../database/database.ts";
import type { Job } from "../domain/job.ts";
import type { ResolvedJob } from "../domain/job-spec.ts";
import { contendedQuery } from "./contended-query.ts";
import { type JobRow, toJob } from "./job-row.ts";
import { parseIdArray } from "./settle-jobs.ts";

/** Inserts the jobs and returns them in the same order; their ids ascend. */
export async function insertJobs(db: Database, specs: readonly ResolvedJob[]): Promise<Job[]> {
  const [answer] = await contendedQuery<InsertedRow>(db, insertSql, [
    ...specArrays(specs),
    [...new Set(specs.map((spec) => spec.identifier))],
    [...new Set(specs.map((spec) => spec.queueName).filter((name) => name !== null))],
  ]);
  const ids = parseIdArray(answer?.ids);
  if (answer === undefined || ids.length !== specs.length) {
    const message = `only ${ids.length} of ${specs.length} jobs were inserted; is there a trigger on the table?`;
    throw new WorkerError("database_error", message);
  }
  const inserted: Inserted = {
    now_us: Number(answer.now_us),
    ids,
    runAts_us: answer.run_ats_us === null ? null : (JSON.parse(answer.run_ats_us) as number[]),
    flags: answer.flags === null ? null : (JSON.parse(answer.flags) as (string | null)[]),
    taskIds: new Map(JSON.parse(answer.tasks) as [string, number][]),
    queueIds: new Map(JSON.parse(answer.queues ?? "[]") as [string, number][]),
  };
  return specs.map((spec, place) => toJob(insertedRow(spec, place, inserted)));
}

/** The batch in one row: ten thousand rows of twenty columns cost more to read than to insert. */
interface InsertedRow {
  readonly now_us: string;
  /** `{1,2}` */
  readonly ids: string | null;
  /** null where no job had a time, or flags, of its own. */
  readonly run_ats_us: string | null;
  readonly flags: string | null;
  readonly tasks: string;
  readonly queues: string | null;
}

interface Inserted {
  readonly now_us: number;
  readonly ids: readonly string[];
  readonly runAts_us: readonly number[] | null;
  readonly flags: readonly (string | null)[] | null;
  readonly taskIds: ReadonlyMap<string, number>;
  readonly queueIds: ReadonlyMap<string, number>;
}

/** The row as the table has it now: what we gave, what PostgreSQL made of it, and the defaults. */
function insertedRow(spec: ResolvedJob, place: number, inserted: Inserted): JobRow {
  const now_ms = Math.floor(inserted.now_us / 1_000);
  const { runAts_us, ids } = inserted;
  // As `specColumns` spreads them.
  const runAt_us =
    runAts_us === null ? inserted.now_us - (ids.length - 1 - place) : runAts_us[place];
  return {
    id: inserted.ids[place] ?? "",
    task_id: inserted.taskIds.get(spec.identifier) ?? 0,
    task_identifier: spec.identifier,
    job_queue_id: spec.queueName === null ? null : (inserted.queueIds.get(spec.queueName) ?? null),
    queue_name: spec.queueName,
    payload: spec.payload,
    priority: spec.priority ?? 0,
    run_at_ms: Math.floor((runAt_us ?? inserted.now_us) / 1_000),
    attempts: 0,
    max_attempts: spec.maxAttempts ?? 25,
    last_error: null,
    created_at_ms: now_ms,
    updated_at_ms: now_ms,
    key: null,
    locked_at_ms: null,
    locked_by: null,
    revision: 0,
    flags: inserted.flags?.[place] ?? null,
    is_available: true,
    state: (runAt_us ?? 0) > inserted.now_us ? "scheduled" : "ready",
  };
}

/** One value for each column of a batch, as `specColumns` reads them; null = no job has one. */
export function specArrays(specs: readonly ResolvedJob[]): (unknown[] | string | null)[] {
  const column = (value: (spec: ResolvedJob) => unknown) => {
    const values = specs.map(value);
    return values.some((one) => one !== null) ? values : null;
  };
  return [
    identifierArray(specs),
    specs.map((spec) => spec.payload).join(SEPARATOR),
    column((spec) => spec.queueName),
    column((spec) => spec.runAt),
    column((spec) => spec.maxAttempts),
    column((spec) => spec.priority),
    column((spec) => (spec.flags === null ? null : flagsText(spec.flags))),
  ];
}

// JSON has no control characters but those of white space, so this is in no payload. A joined text
// costs neither us nor PostgreSQL the escapes of an array's.
const SEPARATOR = "\u001f";

/** PostgreSQL's array text; most batches have few identifiers, so each is escaped once. */
function identifierArray(specs: readonly ResolvedJob[]): string {
  const escaped = new Map<string, string>();
  const elements = specs.map(({ identifier }) => {
    let element = escaped.get(identifier);
    if (element === undefined) {
      element = `"${identifier.replace(/["\\]/g, "\\$&")}"`;
      escaped.set(identifier, element);
    }
    return element;
  });
  return `{${elements.join(",")}}`;
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
    $1::text[], string_to_array($2::text, E'\\x1f'), $3::text[], $4::timestamptz[], $5::smallint[], $6::smallint[],
    $7::text[]
  ) with ordinality as
    given (identifier, payload, queue_name, run_at, max_attempts, priority, flags, n)`;

const microseconds = (moment: string) => `floor(extract(epoch from ${moment}) * 1000000)`;

/** The ones that the caller gave; where he gave none, nothing is worked out. */
const given = (column: string, parameter: string) =>
  `json_agg(${column}) filter (where ${parameter} is not null)`;

// "do update", not "do nothing": a task that another session inserts at this very moment is not
// visible to us, and only an update returns its id. Names are inserted in order, so that two
// batches with the same new names cannot deadlock. Ids are drawn after the sort by n. The distinct
// names come beside the jobs' ($8, $9): the planner looks at each element of an array that is
// compared, which for ten thousand of them takes longer than a quarter of the insert.
const insertSql: Statement = (schema) => `
  with given as materialized (${specColumns}),
  known_tasks as (
    select id, identifier from ${schema}._private_tasks where identifier = any($8::text[])
  ), new_tasks as (
    insert into ${schema}._private_tasks as known (identifier)
    select name from unnest($8::text[]) as named (name)
    where name not in (select identifier from known_tasks)
    order by name
    on conflict (identifier) do update set identifier = known.identifier
    returning id, identifier
  ), tasks as (
    select * from known_tasks union all select * from new_tasks
  ), known_queues as (
    select id, queue_name from ${schema}._private_job_queues where queue_name = any($9::text[])
  ), new_queues as (
    insert into ${schema}._private_job_queues as known (queue_name)
    select name from unnest($9::text[]) as named (name)
    where name not in (select queue_name from known_queues)
    order by name
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
    returning id, run_at, flags
  ), notified as materialized (
    select pg_notify(
      'jobs:insert',
      format('{"r":%s,"count":%s}', random(), cardinality($1::text[]))
    )
  )
  select
    ${microseconds("now()")} as now_us,
    array_agg(added.id)::text as ids,
    ${given(`${microseconds("added.run_at")}::bigint`, "$4::timestamptz[]")} as run_ats_us,
    ${given("added.flags::text", "$7::text[]")} as flags,
    (select json_agg(json_build_array(identifier, id)) from tasks) as tasks,
    (select json_agg(json_build_array(queue_name, id)) from queues) as queues
  from (select id, run_at, flags from jobs order by id) as added
  cross join notified`;
