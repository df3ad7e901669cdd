// Inserts jobs without keys in one statement, which is twice as fast as the schema's function add_jobs.
import { knownOutcome } from "../../database/connection/known-outcome.ts";
import { isOutsideTransaction } from "../../database/connection/transaction.ts";
import {
  builtPerForm,
  type Database,
  idArray,
  parseIdArray,
  query,
  type Statement,
} from "../../database/database.ts";
import { isRaised } from "../../database/errors/raised.ts";
import { mayChangeInserts } from "../../database/skipped-rows.ts";
import type { Job } from "../../domain/job.ts";
import type { ResolvedJob } from "../../domain/job-spec.ts";
import { contendedQuery } from "../sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../sql/job-row.ts";
import { microseconds } from "../sql/moments.ts";
import { knownNames } from "../sql/names.ts";
import { announceJobs } from "../sql/notify.ts";
import { columnsOf, type GivenColumn, givenRows, givenValues } from "./given-jobs.ts";
import { skippedRows } from "./skipped-rows.ts";

// Small batches use a prepared statement, because planning is most of their work.
const SMALL_BATCH = 100;

/** Inserts the jobs and returns them in the same order, with ascending ids. Throws the same errors as addJobs(). */
export async function insertJobs(db: Database, specs: readonly ResolvedJob[]): Promise<Job[]> {
  const columns = columnsOf(specs);
  const values = [
    ...givenValues(specs, columns),
    [...new Set(specs.map((spec) => spec.identifier))],
    ...(columns.includes("queue_name") ? [queueNames(specs)] : []),
    `${db.schema.quoted}._private_jobs`,
  ];
  const isRepeated = specs.length <= SMALL_BATCH;
  const statement = insertStatement(columns);
  const what = specs.length === 1 ? "the add" : "the add of all jobs";
  const [answer] = await knownOutcome(db, what, (inside) =>
    contendedQuery<InsertedRow>(inside, statement, values, { isRepeated }),
  ).catch((error: unknown) => {
    const { cause } = error as Error;
    throw isRaised(cause, SKIPPED) ? skippedRows(db, specs.length, { cause }) : error;
  });
  if (answer === undefined) throw skippedRows(db, specs.length, {});
  const ids = parseIdArray(answer.ids);
  const inserted: InsertResult = {
    nowUs: Number(answer.now_us),
    ids,
    runAtsUs: answer.run_ats_us === null ? null : (JSON.parse(answer.run_ats_us) as number[]),
    flags: answer.flags === null ? null : (JSON.parse(answer.flags) as (string | null)[]),
    taskIds: new Map(JSON.parse(answer.tasks) as [string, number][]),
    queueIds: new Map(JSON.parse(answer.queues ?? "[]") as [string, number][]),
  };
  const rows = specs.map((spec, index) => insertedRow(spec, index, inserted));
  return (answer.may_differ ? await storedRows(db, rows) : rows).map(toJob);
}

/** Reads the stored rows. A row that cannot be read, such as that of a completed job, is returned as given. */
async function storedRows(db: Database, rows: readonly JobRow[]): Promise<readonly JobRow[]> {
  const read = query<JobRow>(db, storedSql, [idArray(rows.map(({ id }) => id))]);
  // Outside a transaction, the jobs are already committed, so an error of this read is ignored.
  const stored = await (isOutsideTransaction(db.client) ? read.catch(() => []) : read);
  const ofId = new Map(stored.map((row) => [row.id, row]));
  return rows.map((row) => ofId.get(row.id) ?? row);
}

const storedSql: Statement = (s) => `
  select ${jobColumns} from ${s}._private_jobs as jobs ${jobNames(s)} where jobs.id = any($1::bigint[])`;

const SKIPPED = "a trigger skips rows";

/** One row for the whole batch: ten thousand rows would cost more to read than to insert. */
interface InsertedRow {
  readonly now_us: string;
  readonly ids: string | null;
  /** A JSON array of the jobs' run_at in microseconds since the epoch; null if no job was given a time. */
  readonly run_ats_us: string | null;
  readonly flags: string | null;
  readonly tasks: string;
  readonly queues: string | null;
  /** Whether a trigger may have changed the stored values. */
  readonly may_differ: boolean;
}

interface InsertResult {
  readonly nowUs: number;
  readonly ids: readonly string[];
  readonly runAtsUs: readonly number[] | null;
  readonly flags: readonly (string | null)[] | null;
  readonly taskIds: ReadonlyMap<string, number>;
  readonly queueIds: ReadonlyMap<string, number>;
}

/** Returns the row that is stored if no trigger changes it. */
function insertedRow(spec: ResolvedJob, index: number, inserted: InsertResult): JobRow {
  const { runAtsUs, ids } = inserted;
  // If no job was given a time, the SQL of givenRows() has set this run_at.
  const runAtUs = runAtsUs === null ? inserted.nowUs - (ids.length - 1 - index) : runAtsUs[index];
  return {
    id: inserted.ids[index] ?? "",
    task_id: inserted.taskIds.get(spec.identifier) ?? 0,
    task_identifier: spec.identifier,
    job_queue_id: spec.queueName === null ? null : (inserted.queueIds.get(spec.queueName) ?? null),
    queue_name: spec.queueName,
    payload: spec.payload,
    priority: spec.priority ?? 0,
    run_at_us: runAtUs ?? inserted.nowUs,
    attempts: 0,
    max_attempts: spec.maxAttempts ?? 25,
    last_error: null,
    created_at_us: inserted.nowUs,
    updated_at_us: inserted.nowUs,
    key: null,
    locked_at_us: null,
    locked_by: null,
    revision: 0,
    flags: inserted.flags?.[index] ?? null,
    is_available: true,
    state: (runAtUs ?? 0) > inserted.nowUs ? "scheduled" : "ready",
  };
}

function queueNames(specs: readonly ResolvedJob[]): string[] {
  return [...new Set(specs.map((spec) => spec.queueName).filter((name) => name !== null))];
}

// Each set of columns has its own statement: rows from several arrays cost PostgreSQL four times as much as rows from
// one array.
const insertStatement = builtPerForm((columns: readonly GivenColumn[]) => insertSql(columns));

// Ids must be assigned in the order of the batch. A join may change the order, so after a join the rows are sorted by
// `n`.
const insertSql =
  (columns: readonly GivenColumn[]): Statement =>
  (schema) => {
    const has = (column: GivenColumn) => columns.includes(column);
    const [isMixed, isQueued] = [has("identifier"), has("queue_name")];
    const taskNames = `$${columns.length + 3}`;
    const queueNames = `$${columns.length + 4}`;
    const table = `$${columns.length + (isQueued ? 5 : 4)}`;
    // The planner reads each element of an array that is compared with a column, so `taskNames` and `queueNames` have
    // no repeated names.
    const tasks = `${knownNames(schema, "identifier", taskNames)},`;
    const queues = `${knownNames(schema, "queue_name", queueNames)},`;
    const ofGiven = (column: GivenColumn, value: string) =>
      has(column) ? `pg_catalog.json_agg(${value})` : "null";
    return `
  with ${tasks}${isQueued ? queues : ""}
  jobs as (
    insert into ${schema}._private_jobs
      (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags)
    select
      ${isQueued ? "all_queue_name.id" : "null"},
      ${isMixed ? "all_identifier.id" : "(select id from all_identifier)"},
      payload, run_at, max_attempts, priority, flags
    from (${givenRows(columns)}) as given
    ${isMixed ? "join all_identifier using (identifier)" : ""}
    ${isQueued ? "left join all_queue_name using (queue_name)" : ""}
    ${isMixed || isQueued ? "order by n" : ""}
    returning id, run_at, flags
  ), notified as materialized (
    select ${announceJobs("$2::int")}
  )
  select
    ${microseconds("pg_catalog.now()")}::text as now_us,
    pg_catalog.array_agg(added.id)::text as ids,
    ${ofGiven("run_at", `${microseconds("added.run_at")}::bigint`)}::text as run_ats_us,
    ${ofGiven("flags", "added.flags::text")}::text as flags,
    (select pg_catalog.json_agg(pg_catalog.json_build_array(identifier, id)) from all_identifier)::text as tasks,
    ${isQueued ? "(select pg_catalog.json_agg(pg_catalog.json_build_array(queue_name, id)) from all_queue_name)" : "null"}::text
      as queues,
    ${mayChangeInserts(table)} as may_differ
  from (select id, run_at, flags from jobs order by id) as added
  cross join notified
  having case when pg_catalog.count(*) = $2::int then '0'::text else '${SKIPPED}'::text end::int = 0`;
  };
