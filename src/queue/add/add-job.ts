// Adds one job.
import { WorkerError } from "../../base/errors.ts";
import { knownOutcome } from "../../database/connection/known-outcome.ts";
import type { Database, Statement } from "../../database/database.ts";
import { assertOwnFunctions, isOwnFunction } from "../../database/own-functions.ts";
import type { Job } from "../../domain/job.ts";
import { type JobToAdd, resolveJob } from "../../domain/job-spec.ts";
import { contendedQuery, MAX_TRIES } from "../sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../sql/job-row.ts";
import { withNames } from "../sql/names.ts";
import { insertJobs } from "./insert-jobs.ts";

/**
 * Adds a job, or with a `jobKey` replaces the waiting job of that key as `jobKeyMode` says.
 * Returns the job as it is now in the database: with `unsafe_dedupe`, the one that was there.
 * Throws InputError for what the schema cannot hold, WorkerError when the database refuses:
 * `outcome_unknown` where the connection was lost before the answer, and the job may have been added.
 */
export async function addJob(db: Database, job: JobToAdd): Promise<Job> {
  const spec = resolveJob(job);
  if (spec.jobKey === null) {
    const [added] = await insertJobs(db, [spec]);
    return added as Job;
  }
  const values = [
    spec.identifier,
    spec.payload,
    spec.queueName,
    spec.runAt,
    spec.maxAttempts,
    spec.jobKey,
    spec.priority,
    spec.flags,
    spec.jobKeyMode,
  ];
  return knownOutcome(db, "the add", async (known) => {
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const rows = await withNames(known, await contendedQuery<JobRow>(known, addSql, values));
      if (rows[0] !== undefined) return toJob(rows[0]);
      await assertOwnFunctions(known);
    }
    throw keyTooBusy(spec.jobKey);
  });
}

/** A worker locked the key's job in the middle of each of our calls. */
export function keyTooBusy(key: string | null): WorkerError {
  return new WorkerError(
    "database_busy",
    `the job with key ${JSON.stringify(key)} was taken by workers each time we tried; try again`,
  );
}

// When a worker locks the key's job between two of its steps, our function reports a serialization
// failure. Stock Graphile Worker's adds nothing without a word: it returns a row of nulls.
const addSql: Statement = (schema) => `
  select ${jobColumns}
  from ${schema}.add_job(
    identifier => $1::text,
    payload => $2::text::json,
    queue_name => $3::text,
    run_at => $4::text::timestamptz,
    max_attempts => $5::int,
    job_key => $6::text,
    priority => $7::int,
    flags => $8::text[],
    job_key_mode => $9::text
  ) as jobs
  ${jobNames(schema)}
  where jobs.id is not null and ${isOwnFunction(schema, "add_job")}`;
