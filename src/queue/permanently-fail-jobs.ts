// Ends jobs as if their attempts were used up: they stay, as failed, until someone acts on them.
import { validate } from "../base/validate.ts";
import type { Database, Statement } from "../database/database.ts";
import type { Job } from "../domain/job.ts";
import { boundedText } from "../domain/job-spec.ts";
import { contendedQuery } from "./contended-query.ts";
import { checkedJobIds } from "./job-ids.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "./job-row.ts";

// As much as a long stack trace needs, and a bound on 10,000 copies of it.
const reasonText = boundedText(0, 65_536);

/**
 * Sets attempts to max_attempts and last_error to `reason` (null: "Manually marked as failed").
 * Returns the jobs that were changed, ascending by id; unknown ids, and jobs locked less than
 * 4 hours ago, are left alone and are not in the answer.
 * Throws InputError for bad ids (see completeJobs) or a reason longer than 65,536 characters.
 */
export async function permanentlyFailJobs(
  db: Database,
  ids: readonly string[],
  reason: string | null,
): Promise<Job[]> {
  const text = reason === null ? null : validate(reasonText, reason);
  const rows = await contendedQuery<JobRow>(db, failSql, [checkedJobIds(ids), text]);
  return rows.map(toJob);
}

const failSql: Statement = (schema) => `
  select ${jobColumns}
  from ${schema}.permanently_fail_jobs($1::bigint[], $2::text) as jobs
  ${jobNames(schema)}
  order by jobs.id`;
