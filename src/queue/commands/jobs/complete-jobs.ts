// Ends jobs as if they had succeeded: their rows are deleted.
import type { Database } from "../../../database/database.ts";
import type { Job } from "../../../domain/job.ts";
import { checkedJobIds } from "../../../domain/job-ids.ts";
import { type ActingStatement, actingQuery } from "../../sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../../sql/job-row.ts";
import { defineCommand } from "../declare/command.ts";
import { jobIds } from "../declare/field.ts";
import { acted, actedAnswer, actedMembers, actedSentence, actedTally, jobAction } from "./acted.ts";

/**
 * Deletes the jobs and returns them as they were, ascending by id. Unknown ids, and jobs locked less
 * than 4 hours ago, are left alone and are not in the answer.
 * Throws InputError for a list that is empty, longer than 10,000 or holds something but job ids.
 */
export async function completeJobs(db: Database, ids: readonly string[]): Promise<Job[]> {
  const rows = await actingQuery<JobRow>(db, completeSql, [checkedJobIds(ids)]);
  return rows.map(toJob);
}

const completeSql: ActingStatement = (schema, ids) => `
  select ${jobColumns}
  from ${schema}.complete_jobs(${ids}) as jobs
  ${jobNames(schema)}
  order by jobs.id`;

export const completeCommand = defineCommand({
  name: "complete",
  aliases: [],
  summary: "Complete jobs: delete them as if they had succeeded",
  title: "Complete jobs",
  verb: "Complete",
  consequence: "The jobs are deleted and never run.",
  consequenceOfOne: "The job is deleted and never runs.",
  permission: "jobs:write",
  danger: "destroys",
  http: jobAction("complete"),
  positionals: ["ids"],
  fields: { ids: jobIds },
  answer: actedAnswer,
  run: async (db, { ids }) => acted(db, ids, await completeJobs(db, ids)),
  sentence: (result, input) => actedSentence("Completed", result, input),
  tally: (result, input) => actedTally(result, input),
  members: actedMembers,
});
