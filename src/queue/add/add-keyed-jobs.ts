// Adds jobs with keys: in one statement, so that all of it happens or none. What a key means is what the
// schema's functions add_job and add_jobs mean by it.
import { codeOf } from "../../base/errors.ts";
import { builtOnce, type Database, type Statement } from "../../database/database.ts";
import { isRaised } from "../../database/errors/raised.ts";
import type { Job } from "../../domain/job.ts";
import { type JobKeyMode, jobKeyModes, type ResolvedJob } from "../../domain/job-spec.ts";
import { contendedQuery, IN_FAILED_TRANSACTION, MAX_TRIES } from "../sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../sql/job-row.ts";
import { knownNames, withNames } from "../sql/names.ts";
import { announceJobs } from "../sql/notify.ts";
import { ALL_COLUMNS, givenRows, givenValues } from "./given-jobs.ts";
import { keyTooBusy } from "./key-too-busy.ts";
import { maySkipRows, skippedRows } from "./skipped-rows.ts";

// Of a small batch the planning is most of the work.
const SMALL_BATCH = 100;

/**
 * Adds the jobs and returns one for each, in the same order. No key occurs twice. Throws WorkerError
 * (`database_busy`) where workers took the jobs of these keys at each try.
 */
export async function addKeyedJobs(db: Database, specs: readonly ResolvedJob[]): Promise<Job[]> {
  return (await addKeyedRows(db, specs)).map(toJob);
}

/** The same, as rows. */
export async function addKeyedRows(db: Database, specs: readonly ResolvedJob[]): Promise<JobRow[]> {
  const keysOf = (list: readonly ResolvedJob[]) => list.flatMap(({ jobKey }) => jobKey ?? []);
  const values = [
    ...givenValues(specs, ALL_COLUMNS),
    // Not null: under array_nulls = off that would be a text.
    specs.map(({ jobKey }) => jobKey ?? ""),
    specs.map(({ jobKeyMode }) => jobKeyMode),
    keysOf(specs.filter(({ jobKeyMode }) => jobKeyMode !== "unsafe_dedupe")),
    [...new Set(specs.map(({ identifier }) => identifier))],
    [...new Set(specs.flatMap(({ queueName }) => queueName ?? []))],
  ];
  const statement = statementOf(new Set(specs.map(({ jobKeyMode }) => jobKeyMode)));
  const isRepeated = specs.length <= SMALL_BATCH;
  let taken: unknown;
  for (let attempt = 1; ; attempt++) {
    try {
      const rows = await contendedQuery<JobRow>(db, statement, values, { isRepeated });
      if (rows.length === specs.length) return inOrder(specs, await withNames(db, rows));
    } catch (error) {
      // In a transaction of the caller's a second try only meets that PostgreSQL has given it up.
      const isLost =
        taken !== undefined && codeOf((error as Error).cause) === IN_FAILED_TRANSACTION;
      if (!isLost && !isRaised((error as Error).cause, TAKEN)) throw error;
      taken ??= error;
      if (isLost) throw keyTooBusy(null, taken);
    }
    if (attempt < MAX_TRIES) continue;
    if (await maySkipRows(db)) throw skippedRows(db, specs.length, { cause: taken });
    throw keyTooBusy(taken === undefined ? (specs[0]?.jobKey ?? null) : null, taken);
  }
}

/** A key tells whose a row is. Jobs without one are inserted in their order, so their ids ascend. */
function inOrder(specs: readonly ResolvedJob[], rows: readonly JobRow[]): JobRow[] {
  const ofKey = new Map(rows.map((row) => [row.key, row]));
  const keyless = rows.filter(({ key }) => key === null).values();
  return specs.map(
    ({ jobKey }) => (jobKey === null ? keyless.next().value : ofKey.get(jobKey)) as JobRow,
  );
}

// A batch has one mode as a rule. An insert has no other way to know the mode of a job that it meets.
const statements = new Map<string, Statement>();

function statementOf(present: ReadonlySet<JobKeyMode>): Statement {
  const modes = jobKeyModes.filter((mode) => present.has(mode));
  let statement = statements.get(modes.join());
  if (statement === undefined) {
    statement = builtOnce(addSql(modes));
    statements.set(modes.join(), statement);
  }
  return statement;
}

const TAKEN = "workers took jobs of these keys at the same time";

// `held`: no worker takes a job between the steps, and two batches lock jobs in one order, as they insert
// keys in one order, so they cannot deadlock. A job that runs has seen the old state of the world, and an
// exhausted one will not run again: either loses its key, does not retry, and a new job is made.
//
// A job whose key another session adds meanwhile is not held. Where a worker has it already, it is left out:
// of several jobs none is added then, a single one is offered again.
const addSql =
  (modes: readonly JobKeyMode[]): Statement =>
  (s) =>
    `
  with given as materialized (
    select spec.*, nullif(job_key, ''::text) as job_key, job_key_mode
    from (${givenRows(ALL_COLUMNS)}) as spec
    join unnest($9::text[], $10::text[]) with ordinality as key (job_key, job_key_mode, n) using (n)
  ), held as materialized (
    select jobs.id, jobs.is_available
    from ${s}._private_jobs as jobs
    where jobs.key = any($11::text[])
    order by jobs.id
    for update
  ), given_up as (
    update ${s}._private_jobs as jobs
    set key = null, attempts = jobs.max_attempts, updated_at = pg_catalog.now()
    where jobs.id = any(array(select held.id from held where not held.is_available))
    returning jobs.id
  ), ${knownNames(s, "identifier", "$12")}, ${knownNames(s, "queue_name", "$13")},
  ${modes.map((mode) => `${mode} as (${insertOf(s, mode)})`).join(", ")},
  jobs as (
    ${modes.map((mode) => `select *, ${isKept(mode)} as is_kept from ${mode}`).join(" union all ")}
  ), announced as materialized (
    select ${announceJobs("pg_catalog.count(*)")} from jobs where not is_kept having pg_catalog.count(*) > 0
  )
  select ${jobColumns}
  from jobs
  ${jobNames(s)}
  left join announced on true
  where case
    when $2::int = 1 or (select pg_catalog.count(*) from jobs) = $2::int then '0'::text
    else '${TAKEN}'::text
  end::int = 0
  order by jobs.id`;

const isKept = (mode: JobKeyMode) => (mode === "unsafe_dedupe" ? "revision > 0" : "false");

const insertOf = (s: string, mode: JobKeyMode) => `
    insert into ${s}._private_jobs as jobs
      (job_queue_id, task_id, payload, run_at, max_attempts, key, priority, flags)
    select
      all_queue_name.id, all_identifier.id, payload, run_at, max_attempts, job_key, priority, flags
    from given
    join all_identifier using (identifier)
    left join all_queue_name using (queue_name)
    cross join (select pg_catalog.count(*) from given_up) as after
    where job_key_mode = '${mode}'
    order by job_key, n
    on conflict (key) do update set ${metJob(mode)}
    returning jobs.*
  `;

/** What becomes of the job that has the key. Two lists are joined: callers batch work under one key. */
const metJob = (mode: JobKeyMode) =>
  mode === "unsafe_dedupe"
    ? "revision = jobs.revision + 1, updated_at = pg_catalog.now()"
    : `
      job_queue_id = excluded.job_queue_id,
      task_id = excluded.task_id,
      payload = case
        when pg_catalog.json_typeof(jobs.payload) = 'array' and pg_catalog.json_typeof(excluded.payload) = 'array'
          then (jobs.payload::jsonb || excluded.payload::jsonb)::json
        else excluded.payload
      end,
      max_attempts = excluded.max_attempts,
      run_at = ${mode === "replace" ? "excluded.run_at" : "case when jobs.attempts = 0::smallint then jobs.run_at else excluded.run_at end"},
      priority = excluded.priority,
      revision = jobs.revision + 1,
      flags = excluded.flags,
      attempts = 0,
      last_error = null,
      updated_at = pg_catalog.now()
    where jobs.locked_at is null`;
