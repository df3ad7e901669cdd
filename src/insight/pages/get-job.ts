// Reads one job by its id.
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import { checkedJobId } from "../../domain/job-ids.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../../queue/sql/job-row.ts";

/** Returns the job; null if it does not exist, as after it was completed. Throws InputError for an invalid id. */
export async function getJob(db: Database, id: string): Promise<Job | null> {
  const [row] = await query<JobRow>(db, getSql, [checkedJobId(id)]);
  return row === undefined ? null : toJob(row);
}

const getSql: Statement = (schema) => `
  select ${jobColumns}
  from ${schema}._private_jobs as jobs
  ${jobNames(schema)}
  where jobs.id = $1::bigint`;
