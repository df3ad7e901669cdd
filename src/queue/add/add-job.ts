// Adds one job, which may have a key or a throttle.
import { knownOutcome } from "../../database/connection/known-outcome.ts";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import type { AnyJob } from "../../domain/job-spec.ts";
import { type JobToAdd, type ResolvedJob, resolveJob } from "../../domain/job-spec.ts";
import type { ThrottledAdd } from "../../domain/limits/throttled-job.ts";
import { addKeyedJobs } from "./add-keyed-jobs.ts";
import { addThrottledJobs } from "./add-throttled-jobs.ts";
import { insertJobs } from "./insert-jobs.ts";

/**
 * Adds a job. If a job with the same key exists, `jobKeyMode`, `unique` or `debounce` decides whether that job is
 * replaced, is kept, or loses its key to a new job. Returns the added, replaced or kept job. Throws InputError for
 * invalid values, and WorkerError for errors of the database. The code `outcome_unknown` means that the answer of the
 * database was lost, so the job may have been added.
 */
export const addJob = addAnyJob as (db: Database, job: JobToAdd) => Promise<Job>;

/**
 * Like addJob(), for a job that may have a `throttle`. For a job with a throttle, the function returns a ThrottledAdd,
 * and throws `extension_missing` if the schema has no tables for limits.
 */
export async function addAnyJob(db: Database, job: AnyJob): Promise<Job | ThrottledAdd> {
  return addResolved(db, resolveJob(job));
}

export async function addResolved(db: Database, spec: ResolvedJob): Promise<Job | ThrottledAdd> {
  if (spec.throttle !== null) {
    return (await addThrottledJobs(db, [spec]))[0] as ThrottledAdd;
  }
  const [added] =
    spec.jobKey === null
      ? await insertJobs(db, [spec])
      : await knownOutcome(db, "the add", (inside) => addKeyedJobs(inside, [spec]));
  return added as Job;
}
