// Adds one job.
import { knownOutcome } from "../../database/connection/known-outcome.ts";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import { type JobToAdd, resolveJob } from "../../domain/job-spec.ts";
import { addKeyedJobs } from "./add-keyed-jobs.ts";
import { insertJobs } from "./insert-jobs.ts";

/**
 * Adds a job, or with a `jobKey` replaces the waiting job of that key as `jobKeyMode` says.
 * Returns the job as it is now in the database: with `unsafe_dedupe`, the one that was there.
 * Throws InputError for what the schema cannot hold, WorkerError when the database refuses:
 * `outcome_unknown` where the connection was lost before the answer, and the job may have been added.
 */
export async function addJob(db: Database, job: JobToAdd): Promise<Job> {
  const spec = resolveJob(job);
  const [added] =
    spec.jobKey === null
      ? await insertJobs(db, [spec])
      : await knownOutcome(db, "the add", (known) => addKeyedJobs(known, [spec]));
  return added as Job;
}
