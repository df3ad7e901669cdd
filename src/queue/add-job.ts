// Adds one job.
import { WorkerError } from "../base/errors.ts";
import type { Database, Statement } from "../database/database.ts";
import { query } from "../database/database.ts";
import type { Job } from "../domain/job.ts";
import { type JobToAdd, resolveJob } from "../domain/job-spec.ts";
import { withNames } from "./job-names.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "./job-row.ts";

/** How often a keyed job is offered before we say that its key is too busy. */
export const MAX_OFFERS = 5;

/**
 * Adds a job, or with a `jobKey` replaces the waiting job of that key as `jobKeyMode` says.
 * Returns the job as it is now in the database: with `unsafe_dedupe`, the one that was there.
 * Throws InputError for what the schema cannot hold, WorkerError when the database refuses.
 */
export async function addJob(db: Database, job: JobToAdd): Promise<Job> {
  const spec = resolveJob(job);
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
  for (let offer = 0; offer < MAX_OFFERS; offer++) {
    const rows = await withNames(db, await query<JobRow>(db, addSql, values));
    if (rows[0] !== undefined) return toJob(rows[0]);
  }
  throw keyTooBusy(spec.jobKey);
}

/** A worker locked the key's job in the middle of each of our calls. */
export function keyTooBusy(key: string | null): WorkerError {
  return new WorkerError(
    "database_busy",
    `the job with key ${JSON.stringify(key)} was taken by workers each time we tried; try again`,
  );
}

// The function silently adds nothing when a worker locks the key's job between two of its steps: it
// then returns a row of nulls, and the same call again succeeds.
const addSql: Statement = (schema) => `
  select ${jobColumns}
  from ${schema}.add_job(
    identifier => $1::text,
    payload => $2::json,
    queue_name => $3::text,
    run_at => $4::timestamptz,
    max_attempts => $5::int,
    job_key => $6::text,
    priority => $7::int,
    flags => $8::text[],
    job_key_mode => $9::text
  ) as jobs
  ${jobNames(schema)}
  where jobs.id is not null`;
