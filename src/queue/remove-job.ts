// Takes back a job by its key.
import { validate } from "../base/validate.ts";
import type { Database, Statement } from "../database/database.ts";
import type { Job } from "../domain/job.ts";
import { jobKey } from "../domain/job-spec.ts";
import { contendedQuery } from "./contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "./job-row.ts";

/**
 * - `removed`: the job was not running and is deleted; `job` is as it was.
 * - `locked`: a worker is running it. It cannot be taken back, but it has lost its key and will not
 *   be retried; `job` is as it is now.
 * - `absent`: no job has this key; `job` is null.
 */
export interface RemovedJob {
  readonly outcome: "removed" | "locked" | "absent";
  readonly job: Job | null;
}

/** Removes the job with this key. Throws InputError when `key` has not 1 to 512 characters. */
export async function removeJob(db: Database, key: string): Promise<RemovedJob> {
  const [row] = await contendedQuery<JobRow>(db, removeSql, [validate(jobKey, key)]);
  if (row === undefined) return { outcome: "absent", job: null };
  // The function returns the deleted row, which still has its key, or the row that just lost it.
  return { outcome: row.key === null ? "locked" : "removed", job: toJob(row) };
}

// The function returns a composite: a row of nulls, not no row, when it found nothing.
const removeSql: Statement = (schema) => `
  select ${jobColumns}
  from ${schema}.remove_job($1::text) as jobs
  ${jobNames(schema)}
  where jobs.id is not null`;
