// Adds jobs with keys in one statement, so that all of them are added or none. Keys mean the same as in the
// schema's functions add_job and add_jobs.
import { codeOf } from "../../base/errors.ts";
import { builtOnce, type Database, type Statement } from "../../database/database.ts";
import { isRaised } from "../../database/errors/raised.ts";
import type { Job } from "../../domain/job.ts";
import { type JobKeyMode, jobKeyModes, type ResolvedJob } from "../../domain/job-spec.ts";
import { contendedQuery, IN_FAILED_TRANSACTION, MAX_ATTEMPTS } from "../sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../sql/job-row.ts";
import { knownNames, withNames } from "../sql/names.ts";
import { announceJobs } from "../sql/notify.ts";
import { ALL_COLUMNS, givenRows, givenValues } from "./given-jobs.ts";
import { keyTooBusy } from "./key-too-busy.ts";
import { maySkipRows, skippedRows } from "./skipped-rows.ts";

// For a small batch, planning is most of the work.
const SMALL_BATCH = 100;

/**
 * Adds the jobs and returns one for each, in the same order. No key may occur twice. Throws WorkerError
 * (`database_busy`) if workers locked the jobs of these keys during each attempt.
 */
export async function addKeyedJobs(db: Database, specs: readonly ResolvedJob[]): Promise<Job[]> {
  return (await addKeyedRows(db, specs)).map(toJob);
}

/** Like addKeyedJobs(), but returns rows. */
export async function addKeyedRows(db: Database, specs: readonly ResolvedJob[]): Promise<JobRow[]> {
  const keysOf = (list: readonly ResolvedJob[]) => list.flatMap(({ jobKey }) => jobKey ?? []);
  const values = [
    ...givenValues(specs, ALL_COLUMNS),
    // Not null: with array_nulls = off it would be the text "null".
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
      // In a transaction of the caller's, a second attempt only fails because PostgreSQL has aborted it.
      const isLost =
        taken !== undefined && codeOf((error as Error).cause) === IN_FAILED_TRANSACTION;
      if (!isLost && !isRaised((error as Error).cause, TAKEN)) throw error;
      taken ??= error;
      if (isLost) throw keyTooBusy(null, taken);
    }
    if (attempt < MAX_ATTEMPTS) continue;
    if (await maySkipRows(db)) throw skippedRows(db, specs.length, { cause: taken });
    throw keyTooBusy(taken === undefined ? (specs[0]?.jobKey ?? null) : null, taken);
  }
}

/** Keys identify rows. Jobs without one are inserted in their order, so their ids ascend. */
function inOrder(specs: readonly ResolvedJob[], rows: readonly JobRow[]): JobRow[] {
  const ofKey = new Map(rows.map((row) => [row.key, row]));
  const keyless = rows.filter(({ key }) => key === null).values();
  return specs.map(
    ({ jobKey }) => (jobKey === null ? keyless.next().value : ofKey.get(jobKey)) as JobRow,
  );
}

// A batch usually has one mode. An insert has no other way to get the mode of a job in a conflict.
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

// `held`: no worker takes a job between the steps, and two batches lock jobs in the same order and insert
// keys in the same order, so they cannot deadlock. A running job has read the old state, and a failed one
// will not run again: either loses its key, is not retried, and a new job is created.
//
// A job whose key another session adds at the same time is not held. If a worker has locked it already, it
// is left out: of several jobs none is added then, and a single one is attempted again.
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

/** What happens to an existing job with the key. Two lists are concatenated: callers collect work under one key. */
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
