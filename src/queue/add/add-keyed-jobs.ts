// Adds jobs, some with keys, in one statement, so that all are added or none. A `jobKeyMode` has the same effect as in
// the schema's functions add_job and add_jobs.
import { codeOf, WorkerError } from "../../base/errors.ts";
import { builtPerForm, type Database, type Statement } from "../../database/database.ts";
import { isRaised } from "../../database/errors/raised.ts";
import type { Job } from "../../domain/job.ts";
import { type KeyRule, keyRules, type ResolvedJob } from "../../domain/job-spec.ts";
import { contendedQuery, IN_FAILED_TRANSACTION, MAX_ATTEMPTS } from "../sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../sql/job-row.ts";
import { knownNames, withNames } from "../sql/names.ts";
import { announceJobs } from "../sql/notify.ts";
import { ALL_COLUMNS, givenRows, givenValues } from "./given-jobs.ts";
import { maySkipRows, skippedRows } from "./skipped-rows.ts";

// Small batches use a prepared statement, because planning is most of their work.
const SMALL_BATCH = 100;

/**
 * Adds the jobs and returns them in the same order. No key may occur twice. Throws WorkerError: `database_busy` if
 * workers locked jobs with these keys during each attempt, `database_error` if a trigger skipped rows.
 */
export async function addKeyedJobs(db: Database, specs: readonly ResolvedJob[]): Promise<Job[]> {
  return (await addKeyedRows(db, specs)).map(toJob);
}

export async function addKeyedRows(db: Database, specs: readonly ResolvedJob[]): Promise<JobRow[]> {
  const keysOf = (list: readonly ResolvedJob[]) => list.flatMap(({ jobKey }) => jobKey ?? []);
  const values = [
    ...givenValues(specs, ALL_COLUMNS),
    // "" replaces null, because with array_nulls = off a null would become a text.
    specs.map(({ jobKey }) => jobKey ?? ""),
    specs.map(({ keyRule }) => keyRule),
    keysOf(specs.filter(({ keyRule }) => keyRule !== "unsafe_dedupe")),
    [...new Set(specs.map(({ identifier }) => identifier))],
    [...new Set(specs.flatMap(({ queueName }) => queueName ?? []))],
  ];
  const present = new Set(specs.map(({ keyRule }) => keyRule));
  if (present.has("debounce")) {
    values.push(specs.map(({ debounce }) => debounce?.waitMs ?? 0));
    values.push(specs.map(({ debounce }) => debounce?.maxWaitMs ?? 0));
  }
  const statement = statementOf(keyRules.filter((rule) => present.has(rule)));
  const isRepeated = specs.length <= SMALL_BATCH;
  let taken: unknown;
  for (let attempt = 1; ; attempt++) {
    try {
      const rows = await contendedQuery<JobRow>(db, statement, values, { isRepeated });
      if (rows.length === specs.length) return inOrder(specs, await withNames(db, rows));
    } catch (error) {
      // In a transaction of the caller, the error TAKEN aborts the transaction, so the second attempt is refused.
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

/** The rows of jobs without a key already have the order of `specs`. */
function inOrder(specs: readonly ResolvedJob[], rows: readonly JobRow[]): JobRow[] {
  const ofKey = new Map(rows.map((row) => [row.key, row]));
  const keyless = rows.filter(({ key }) => key === null).values();
  return specs.map(
    ({ jobKey }) => (jobKey === null ? keyless.next().value : ofKey.get(jobKey)) as JobRow,
  );
}

// `on conflict` has the same action for all rows of an insert, so the statement has one insert for each key rule.
const statementOf = builtPerForm((rules: readonly KeyRule[]) => addSql(rules));

const TAKEN = "workers took jobs of these keys at the same time";

// `existing`: the jobs that have keys of the batch, except keys with the rule `unsafe_dedupe`. Their rows are locked,
// so that no worker fetches these jobs during the statement. All batches lock rows, and insert the keys of a rule, in
// the same order, to avoid deadlocks.
// `given_up`: locked jobs, which may already run with an old payload, and failed jobs. These jobs lose their key and
// are not retried, and new jobs are added. If the rule is `unfinished`, a locked job keeps its key.
// After this statement's snapshot, another session may add a job with the same key, and a worker may lock that job.
// The statement then adds nothing, and is repeated.
const addSql =
  (rules: readonly KeyRule[]): Statement =>
  (s) => {
    const [frees, waits] = [rules.includes("unfinished"), rules.includes("debounce")];
    return `
  with given as materialized (
    select spec.*, nullif(job_key, ''::text) as job_key, key_rule${waits ? ", wait_ms, max_wait_ms" : ""}
    from (${givenRows(ALL_COLUMNS)}) as spec
    join unnest($9::text[], $10::text[]${waits ? ", $14::float8[], $15::float8[]" : ""})
      with ordinality as key (job_key, key_rule, ${waits ? "wait_ms, max_wait_ms, " : ""}n) using (n)
  ), existing as materialized (
    select jobs.id, jobs.is_available${frees || waits ? ", jobs.key, jobs.locked_at, jobs.created_at, jobs.attempts" : ""}
    from ${s}._private_jobs as jobs
    where jobs.key = any($11::text[])
    order by jobs.id
    for update
  ), given_up as (
    update ${s}._private_jobs as jobs
    set key = null, attempts = jobs.max_attempts, updated_at = pg_catalog.now()
    where jobs.id = any(array(select existing.id from existing where not existing.is_available${frees ? KEEPS_RUNNING : ""}))
    returning jobs.id
  ), ${knownNames(s, "identifier", "$12")}, ${knownNames(s, "queue_name", "$13")},
  ${rules.map((rule) => `${rule} as (${insertOf(s, rule)})`).join(", ")},
  jobs as (
    ${rules.map((rule) => `select *, ${isKept(rule)} as is_kept from ${rule}`).join(" union all ")}
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
  };

const KEEPS_RUNNING = ` and (existing.locked_at is null or not exists (
      select from given where given.job_key = existing.key and given.key_rule = 'unfinished'))`;

/** Whether an add with this rule changes only `revision` and `updated_at` of a waiting or running job with the key. */
export const keepsJob = (rule: KeyRule): boolean =>
  rule === "unsafe_dedupe" || rule === "unfinished";

const isKept = (rule: KeyRule) => (keepsJob(rule) ? "revision > 0" : "false");

const insertOf = (s: string, rule: KeyRule) => `
    insert into ${s}._private_jobs as jobs
      (job_queue_id, task_id, payload, run_at, max_attempts, key, priority, flags)
    select
      all_queue_name.id, all_identifier.id, payload, ${rule === "debounce" ? DEBOUNCED : "run_at"}, max_attempts,
      job_key, priority, flags
    from given
    join all_identifier using (identifier)
    left join all_queue_name using (queue_name)${rule === "debounce" ? JOIN_EXISTING : ""}
    cross join (select pg_catalog.count(*) from given_up) as after
    where key_rule = '${rule}'
    order by job_key, n
    on conflict (key) do update set ${metJob(rule)}
    returning jobs.*
  `;

const JOIN_EXISTING = `
    left join existing on existing.key = job_key and existing.is_available`;

/**
 * After a failed attempt, `max_wait_ms` begins again with the next add. Otherwise each add after the old `max_wait_ms`
 * would make the job due at once.
 */
const DEBOUNCED = `least(
        pg_catalog.now() + wait_ms * interval '1 millisecond',
        coalesce(case when existing.attempts = 0::smallint then existing.created_at end, pg_catalog.now())
          + max_wait_ms * interval '1 millisecond'
      )`;

const metJob = (rule: KeyRule) =>
  keepsJob(rule)
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
      run_at = ${rule === "preserve_run_at" ? "case when jobs.attempts = 0::smallint then jobs.run_at else excluded.run_at end" : "excluded.run_at"},
      priority = excluded.priority,
      revision = jobs.revision + 1,
      flags = excluded.flags,${rule === "debounce" ? " created_at = case when jobs.attempts = 0::smallint then jobs.created_at else pg_catalog.now() end," : ""}
      attempts = 0,
      last_error = null,
      updated_at = pg_catalog.now()
    where jobs.locked_at is null`;

/** Whether an add of several jobs failed because workers locked jobs with its keys. A new transaction may succeed. */
export const isKeyTooBusy = (error: unknown): boolean =>
  isRaised(((error as Error).cause as Error | undefined)?.cause, TAKEN);

function keyTooBusy(key: string | null, cause: unknown): WorkerError {
  const jobs =
    key === null ? "jobs of these keys were" : `the job with key ${JSON.stringify(key)} was`;
  return new WorkerError(
    "database_busy",
    `${jobs} locked by workers during each attempt; try again`,
    { cause },
  );
}
