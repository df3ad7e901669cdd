// Takes back a job by its key.
import { validate } from "../../../base/validate.ts";
import type { Database, Statement } from "../../../database/database.ts";
import type { Job } from "../../../domain/job.ts";
import { jobKey } from "../../../domain/job-spec.ts";
import { contendedQuery } from "../../sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../../sql/job-row.ts";
import { defineCommand, jsonOf } from "../declare/command.ts";
import { text } from "../declare/field.ts";

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

export const removeCommand = defineCommand({
  name: "remove",
  aliases: ["remove-by-key"],
  summary: "Remove the job with a key; a running one loses its key and is not retried",
  title: "Remove a job by its key",
  verb: "Remove the job",
  consequence:
    "The job with this key is deleted. If a worker runs it now, that run goes on, and it is not tried again.",
  permission: "jobs:write",
  danger: "destroys",
  http: { path: "/api/jobs/remove-by-key", action: null },
  positionals: ["key"],
  fields: { key: text(["Job key", "the key of the job"], 1, 512) },
  answer: { outcome: "string" },
  run: (db, { key }) => removeJob(db, key),
  sentence: ({ outcome }, { key }) => {
    switch (outcome) {
      case "removed":
        return `Removed the job with the key ${key}`;
      case "locked":
        return `The job with the key ${key} is running: it has lost its key and will not be retried`;
      case "absent":
        return `There is no job with the key ${key}`;
      default:
        return outcome satisfies never;
    }
  },
  tally: ({ outcome }) => ({ asked: 1, done: outcome === "removed" ? 1 : 0 }),
  jobIds: ({ job }) => (job === null ? [] : [job.id]),
  members: ({ outcome }) => jsonOf({ outcome }),
});
