// Ends jobs as if they had succeeded: their rows are deleted.
import type { Database, Statement } from "../database/database.ts";
import type { Job } from "../domain/job.ts";
import { contendedQuery } from "./contended-query.ts";
import { checkedJobIds } from "./job-ids.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "./job-row.ts";

/**
 * Deletes the jobs and returns them as they were, ascending by id. Unknown ids, and jobs locked less
 * than 4 hours ago, are left alone and are not in the answer.
 * Throws InputError for a list that is empty, longer than 10,000 or holds something but job ids.
 */
export async function completeJobs(db: Database, ids: readonly string[]): Promise<Job[]> {
  const rows = await contendedQuery<JobRow>(db, completeSql, [checkedJobIds(ids)]);
  return rows.map(toJob);
}

const completeSql: Statement = (schema) => `
  select ${jobColumns}
  from ${schema}.complete_jobs($1::bigint[]) as jobs
  ${jobNames(schema)}
  order by jobs.id`;
