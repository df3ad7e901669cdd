// Adds a batch in which a key occurs more than once: no insert can change a job twice. The schema's functions
// can, and so the batch is divided among them, in one statement, so that all of it happens or none.
//
// add_jobs takes many jobs at once but one mode, no key twice, and no unsafe_dedupe. What does not
// fit (repeated keys, unsafe_dedupe, jobs without a key, whose order add_jobs does not keep) goes
// through add_job one by one, after the rest and in the order given.
import type { Database, Statement } from "../../database/database.ts";
import { assertOwnFunctions, isOwnFunction } from "../../database/own-functions.ts";
import type { Job } from "../../domain/job.ts";
import type { ResolvedJob } from "../../domain/job-spec.ts";
import { contendedQuery, MAX_TRIES } from "../sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../sql/job-row.ts";
import { withNames } from "../sql/names.ts";
import { addKeyedJobs } from "./add-keyed-jobs.ts";
import { ALL_COLUMNS, givenRows, givenValues } from "./given-jobs.ts";
import { keyTooBusy } from "./key-too-busy.ts";

/** Adds a batch of jobs, keys among them, in the order given: the later of one key meets the earlier. */
export async function addBatch(db: Database, specs: readonly ResolvedJob[]): Promise<Job[]> {
  const keys = specs.flatMap(({ jobKey }) => jobKey ?? []);
  const isRepeated = new Set(keys).size < keys.length;
  return isRepeated ? addRepeatedKeys(db, specs) : addKeyedJobs(db, specs);
}

interface KeyedRow extends JobRow {
  /** Place in the batch, from 1; null when the key tells the place. */
  readonly place: string | null;
}

/** Adds the jobs and returns one for each, in the same order, as it was right after its turn. */
async function addRepeatedKeys(db: Database, specs: readonly ResolvedJob[]): Promise<Job[]> {
  const done: (Job | undefined)[] = specs.map(() => undefined);
  let places = specs.map((_, place) => place);
  // What stock functions leave out without a word (see add-job) is offered again.
  for (let attempt = 0; attempt < MAX_TRIES && places.length > 0; attempt++) {
    await offerJobs(db, specs, places, done);
    places = places.filter((place) => done[place] === undefined);
    if (places.length > 0) await assertOwnFunctions(db);
  }
  return done.map((job, place) => {
    if (job === undefined) throw keyTooBusy(specs[place]?.jobKey ?? null);
    return job;
  });
}

async function offerJobs(
  db: Database,
  specs: readonly ResolvedJob[],
  places: readonly number[],
  done: (Job | undefined)[],
): Promise<void> {
  const offered = places.flatMap((place) => specs[place] ?? []);
  const { preserves, placeOfKey } = divide(offered);
  const values = [
    ...givenValues(offered, ALL_COLUMNS),
    // Not null: under array_nulls = off that would be a text.
    offered.map((spec) => spec.jobKey ?? ""),
    offered.map((spec) => spec.jobKeyMode),
    // As text: a driver may type an array by its first boolean.
    preserves.map((preserve) => (preserve === null ? "" : String(preserve))),
  ];
  const rows = await withNames(db, await contendedQuery<KeyedRow>(db, addSql, values));
  for (const row of rows) {
    const index = row.place === null ? placeOfKey.get(row.key) : Number(row.place) - 1;
    const place = index === undefined ? undefined : places[index];
    if (place !== undefined) done[place] = toJob(row);
  }
}

/** For each job, add_jobs' preserve flag, or null when add_job is to take it. */
function divide(specs: readonly ResolvedJob[]) {
  const seen = new Set<string>();
  const placeOfKey = new Map<string | null, number>();
  const preserves = specs.map(({ jobKey, jobKeyMode }, place) => {
    if (jobKey === null) return null;
    const isRepeated = seen.has(jobKey);
    seen.add(jobKey);
    if (isRepeated || jobKeyMode === "unsafe_dedupe") return null;
    placeOfKey.set(jobKey, place);
    return jobKeyMode === "preserve_run_at";
  });
  return { preserves, placeOfKey };
}

// Two batches with the same keys must not lock them in different orders: hence "order by job_key".
// The flags go back to the list that the functions expect.
const addSql: Statement = (schema) => `
  with given as materialized (
    select
      spec.*, nullif(job_key, ''::text) as job_key, job_key_mode,
      nullif(preserves, ''::text)::boolean as preserves,
      (select pg_catalog.array_agg(flag) from pg_catalog.jsonb_object_keys(spec.flags) as flag) as flag_list
    from (${givenRows(ALL_COLUMNS)}) as spec
    join unnest($9::text[], $10::text[], $11::text[])
      with ordinality as key (job_key, job_key_mode, preserves, n) using (n)
    where ${isOwnFunction(schema, "add_job")}
  ), batches as (
    select
      preserves,
      pg_catalog.array_agg(
        row(
          identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flag_list
        )::${schema}.job_spec
        order by job_key
      ) as specs
    from given
    where preserves is not null
    group by preserves
  ), singles as (
    select * from given where preserves is null order by n
  ), jobs as (
    select added.*, null::bigint as place
    from batches
    cross join lateral ${schema}.add_jobs(batches.specs, batches.preserves) as added
    union all
    select added.*, singles.n
    from singles
    cross join lateral ${schema}.add_job(
      identifier => singles.identifier,
      payload => singles.payload,
      queue_name => singles.queue_name,
      run_at => singles.run_at,
      max_attempts => singles.max_attempts::int,
      job_key => singles.job_key,
      priority => singles.priority::int,
      flags => singles.flag_list,
      job_key_mode => singles.job_key_mode
    ) as added
    where added.id is not null
  )
  select ${jobColumns}, jobs.place::text
  from jobs
  ${jobNames(schema)}`;
