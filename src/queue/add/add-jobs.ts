// Adds many jobs, either all or none. Exception: a key occurs twice, and `db` is a client in no transaction.
import { InputError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import type { AnyJob } from "../../domain/job-spec.ts";
import {
  type JobByTask,
  type JobToAdd,
  type ResolvedJob,
  resolveJobs,
} from "../../domain/job-spec.ts";
import type { ThrottledAdd } from "../../domain/limits/throttled-job.ts";
import { addBatch } from "./add-batch.ts";
import { addThrottledJobs } from "./add-throttled-jobs.ts";
import { insertJobs } from "./insert-jobs.ts";

export const MAX_JOBS = 10_000;

/**
 * Adds the jobs as if addJob() were called for each in turn, and returns them in the same order. If a key occurs twice,
 * the add takes several statements. On a pool they are one transaction; on a client in no transaction, each statement
 * is committed by itself. For a job with `throttle`, the result has a ThrottledAdd. If any job has `throttle`, none may
 * have a key. Throws InputError for more than 10,000 jobs or for invalid values (naming `jobs[n]`), and WorkerError as
 * addJob() does.
 */
export async function addJobs(
  db: Database,
  jobs: readonly (JobToAdd | JobByTask)[],
): Promise<Job[]>;
export async function addJobs(
  db: Database,
  jobs: readonly (AnyJob | JobByTask)[],
): Promise<(Job | ThrottledAdd)[]>;
export async function addJobs(
  db: Database,
  jobs: readonly (AnyJob | JobByTask)[],
): Promise<(Job | ThrottledAdd)[]> {
  if (!Array.isArray(jobs)) throw new InputError([{ path: "jobs", message: "must be a list" }]);
  if (jobs.length > MAX_JOBS) {
    const message = `must have at most ${MAX_JOBS} jobs; split them into several calls`;
    throw new InputError([{ path: "jobs", message }]);
  }
  const specs = resolveJobs(jobs);
  if (specs.some(({ throttle }) => throttle !== null)) return addThrottledJobs(db, specs);
  return addResolvedJobs(db, specs);
}

/** Adds jobs as addJobs() does. The jobs must already be checked, and have no throttle. */
export async function addResolvedJobs(db: Database, specs: readonly ResolvedJob[]): Promise<Job[]> {
  if (specs.length === 0) return [];
  if (specs.every(({ jobKey }) => jobKey === null)) return insertJobs(db, specs);
  return addBatch(db, specs);
}
