// Adds jobs, some or all of which have a throttle. One statement begins the periods of the throttles and inserts the
// jobs, so that no period begins without its job. If several jobs of one call have the same throttle key, at most the
// first is added.
import { codeOf, InputError, messageOf, WorkerError } from "../../base/errors.ts";
import { knownOutcome } from "../../database/connection/known-outcome.ts";
import { builtOnce, type Database, query, type Statement } from "../../database/database.ts";
import { isRaised } from "../../database/errors/raised.ts";
import type { Job } from "../../domain/job.ts";
import type { ResolvedJob } from "../../domain/job-spec.ts";
import type { ResolvedThrottle } from "../../domain/limits/throttle.ts";
import type { ThrottledAdd } from "../../domain/limits/throttled-job.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";
import { contendedQuery } from "../sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../sql/job-row.ts";
import { dateOf, microseconds } from "../sql/moments.ts";
import { knownNames, withNames } from "../sql/names.ts";
import { announceJobs } from "../sql/notify.ts";
import { ALL_COLUMNS, givenRows, givenValues } from "./given-jobs.ts";
import { skippedRows } from "./skipped-rows.ts";

// Planning is most of the work of a small batch, so small batches use a prepared statement.
const SMALL_BATCH = 100;

/**
 * Adds all jobs that no throttle prevents, or none of them. Throws InputError if any job has a job key, WorkerError
 * `extension_missing` if the schema does not have the tables for limits, and the errors of addJobs().
 */
export async function addThrottledJobs(
  db: Database,
  specs: readonly ResolvedJob[],
): Promise<(Job | ThrottledAdd)[]> {
  const keyed = specs.findIndex(({ jobKey }) => jobKey !== null);
  if (keyed >= 0) {
    const message = "is not supported in one call with throttle; add these jobs in another call";
    throw new InputError([{ path: `jobs[${keyed}].spec.jobKey`, message }]);
  }
  const { added, untils } = await insert(db, specs);
  return specs.map(({ throttle }, place) => {
    const row = added.get(place);
    if (throttle === null) return toJob(row as AddedRow);
    const until = dateOf(untils.get(throttle.key) ?? 0);
    return row === undefined
      ? { isThrottled: true, until, job: null }
      : { isThrottled: false, until, job: toJob(row) };
  });
}

interface AddedRow extends JobRow {
  readonly place: number;
  readonly throttle_key: string;
  readonly until_us: string | null;
}

const NO_TABLE = "42P01";
const SKIPPED = "a trigger skips rows";

async function insert(db: Database, specs: readonly ResolvedJob[]) {
  const values = [
    ...givenValues(specs, ALL_COLUMNS),
    specs.map(({ throttle }) => throttle?.key ?? ""),
    specs.map(({ throttle }) => throttle?.periodMs ?? 0),
    [...new Set(specs.map(({ identifier }) => identifier))],
    [...new Set(specs.flatMap(({ queueName }) => queueName ?? []))],
  ];
  const what = specs.length === 1 ? "the add" : "the add of all jobs";
  const isRepeated = specs.length <= SMALL_BATCH;
  try {
    return await knownOutcome(db, what, async (inside) => {
      const rows = await contendedQuery<AddedRow>(inside, addSql, values, { isRepeated });
      const added = new Map((await withNames(inside, rows)).map((row) => [row.place, row]));
      const untils = new Map(rows.map(({ throttle_key, until_us }) => [throttle_key, until_us]));
      const missing = specs.flatMap(({ throttle: t }) => (t && !untils.has(t.key) ? t : []));
      const read = missing.length === 0 ? [] : await readUntils(inside, missing);
      for (const { key, us } of read) untils.set(key, us);
      return { added, untils };
    });
  } catch (error) {
    const { cause } = error as Error;
    if (isRaised(cause, SKIPPED)) throw skippedRows(db, specs.length, { cause });
    if (codeOf(cause) !== NO_TABLE || !messageOf(cause).includes("_private_throttles")) throw error;
    const command = workerLine(db.schema.name, "worker migrate --with limits");
    const sentence = `throttle needs tables that the schema ${db.schema.name} does not have: "${command}" adds them`;
    throw new WorkerError("extension_missing", sentence, { cause });
  }
}

// In `taken`, the second of two adds with the same throttle key waits until the transaction of the first has ended. A
// period begins at the start of the statement, because the transaction may have begun long before. Keys are inserted in
// order, so that two batches cannot deadlock.
const addSql: Statement = builtOnce(
  (s) => `
  with given as materialized (
    select spec.*, throttle_key, period_ms
    from (${givenRows(ALL_COLUMNS)}) as spec
    join unnest($9::text[], $10::float8[]) with ordinality as throttle (throttle_key, period_ms, n) using (n)
  ), wanted as materialized (
    select distinct on (throttle_key) throttle_key, period_ms, n
    from given where throttle_key <> ''::text
    order by throttle_key, n
  ), taken as (
    insert into ${s}._private_throttles as throttles (key, until)
    select throttle_key, pg_catalog.statement_timestamp() + period_ms * interval '1 millisecond'
    from wanted
    order by throttle_key
    on conflict (key) do update set until = excluded.until
    where throttles.until <= pg_catalog.statement_timestamp()
    returning key, until
  ), passed as materialized (
    select given.*, taken.until, pg_catalog.row_number() over (order by given.n) as turn
    from given
    left join wanted using (n)
    left join taken on taken.key = wanted.throttle_key
    where given.throttle_key = ''::text or taken.key is not null
  ), ${knownNames(s, "identifier", "$11")}, ${knownNames(s, "queue_name", "$12")},
  inserted as (
    insert into ${s}._private_jobs
      (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags)
    select
      all_queue_name.id, all_identifier.id, payload, run_at, max_attempts, priority, flags
    from passed
    join all_identifier using (identifier)
    left join all_queue_name using (queue_name)
    order by n
    returning *
  ), jobs as (
    select *, pg_catalog.row_number() over (order by id) as turn from inserted
  ), announced as materialized (
    select ${announceJobs("pg_catalog.count(*)")} from inserted having pg_catalog.count(*) > 0
  )
  select ${jobColumns},
    (passed.n - 1)::int as place, passed.throttle_key, ${microseconds("passed.until")}::text as until_us
  from passed
  left join jobs on jobs.turn = passed.turn
  ${jobNames(s)}
  left join announced on true
  where case
    when (select pg_catalog.count(*) from inserted) = (select pg_catalog.count(*) from passed) then '0'::text
    else '${SKIPPED}'::text
  end::int = 0
  order by passed.n`,
);

/**
 * Reads the ends of the periods that prevented adds. This read is a separate statement, because the statement of the
 * add does not see a period that began while that statement waited. If the clock was set back, an end more than
 * `periodMs` from now is moved to `periodMs` from now.
 */
const readUntils = (db: Database, of: readonly ResolvedThrottle[]) => {
  const values = [of.map(({ key }) => key), of.map(({ periodMs }) => periodMs)];
  return query<{ key: string; us: string }>(db, untilsSql, values);
};

const untilsSql: Statement = (s) => `
  with requested as materialized (
    select key, pg_catalog.statement_timestamp() + pg_catalog.max(period_ms) * interval '1 millisecond' as latest
    from unnest($1::text[], $2::float8[]) as given (key, period_ms) group by key
  ), shortened as (
    update ${s}._private_throttles as throttles set until = latest
    from requested where requested.key = throttles.key and throttles.until > latest
  )
  select key, ${microseconds("least(coalesce(throttles.until, pg_catalog.now()), latest)")}::text as us
  from requested left join ${s}._private_throttles as throttles using (key)`;
