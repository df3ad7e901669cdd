// Removes the job that has a given job key.
import { validate } from "../../base/validate.ts";
import type { Database, Statement } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import { jobKey } from "../../domain/job-spec.ts";
import { contendedQuery } from "../../queue/sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../../queue/sql/job-row.ts";
import { isFree } from "../../queue/sql/lock.ts";
import { announceJobs } from "../../queue/sql/notify.ts";
import { actionRecordOf, untilNotFetched } from "../before-images/act-on-jobs.ts";
import { deletion } from "../before-images/job-change.ts";
import {
  type ActionRecord,
  type OperationIdRow,
  recordedStatement,
  recordValues,
} from "../before-images/recorded-statement.ts";
import { defineCommand } from "../declare/command.ts";
import { jobIds, text } from "../declare/field.ts";

/** The result of removeJob(). */
export interface RemovedJob {
  /**
   * `removed`: the job is deleted. `locked`: a worker locked the job less than 4 hours ago, so the job is not deleted,
   * but has lost its key and will not be retried; a running attempt continues. `absent`: no job has this key.
   */
  readonly outcome: "removed" | "locked" | "absent";
  /** The job: in its last state if it was removed, in its present state if it is locked, null if it is absent. */
  readonly job: Job | null;
}

/**
 * Removes the job with this key. If the job is fetched, first waits until it is started or unlocked, at most a second.
 * Throws InputError unless `key` has 1 to 512 characters.
 */
export async function removeJob(db: Database, key: string): Promise<RemovedJob> {
  const checked = validate(jobKey, key);
  await untilNotFetched(db, { key: checked });
  return removeAtOnce(db, checked);
}

async function removeAtOnce(db: Database, key: string): Promise<RemovedJob> {
  const [row] = await contendedQuery<JobRow>(db, removeSql, [key]);
  return toRemovedJob(row);
}

// The row of a deleted job still has the key. The row of a locked job has lost the key.
const toRemovedJob = (row: JobRow | undefined): RemovedJob =>
  row === undefined
    ? { outcome: "absent", job: null }
    : { outcome: row.key === null ? "locked" : "removed", job: toJob(row) };

/** Like removeJob(), but does not wait, and stores the earlier state of a deleted job. */
export async function removeRecorded(
  db: Database,
  key: string,
  record: ActionRecord,
): Promise<RemoveResult> {
  const values = [validate(jobKey, key), ...recordValues(record)];
  const [row] = await contendedQuery<JobRow & OperationIdRow>(db, removeRecordedSql, values);
  return { ...toRemovedJob(row), operationId: row?.operation_id ?? null };
}

export interface RemoveResult extends RemovedJob {
  readonly operationId: string | null;
}

// As in Graphile Worker's function remove_job, a job that was locked less than 4 hours ago is not deleted, but loses
// its key and its remaining attempts. `removed` runs before `given_up`. If a worker is just fetching the job, `removed`
// waits for the fetch and then deletes nothing.
const removedSql = (schema: string) => `removed as (
    delete from ${schema}._private_jobs as jobs
    where jobs.key = $1::text and ${isFree}
    returning jobs.*
  ), given_up as (
    update ${schema}._private_jobs as jobs
    set key = null, attempts = jobs.max_attempts, updated_at = pg_catalog.now()
    where jobs.key = $1::text and not exists (select from removed)
    returning jobs.*
  ), announced as materialized (
    select ${announceJobs("-1")} from removed
  ), acted as (
    select all_acted.*
    from (select * from removed union all select * from given_up) as all_acted
    left join announced on true
  )`;

const removeSql: Statement = (schema) => `
  with ${removedSql(schema)}
  select ${jobColumns}
  from acted as jobs
  ${jobNames(schema)}`;

const removeRecordedSql: Statement = (schema) =>
  recordedStatement(
    schema,
    deletion,
    `${removedSql(schema)}, targets as materialized (
    select id, 'd' as outcome from acted where key is not null
  )`,
    2,
  );

export const removeCommand = defineCommand({
  name: "remove",
  aliases: ["remove-by-key"],
  summary: "Remove the job with a key; a running job loses its key and is not retried",
  title: "Remove a job by its key",
  verb: "Remove the job",
  consequence:
    "Deletes the job with this key. If a worker runs it now, that run continues, and the job is not retried.",
  weight: "light",
  danger: "destroys",
  http: { path: "/api/jobs/remove-by-key", action: null },
  positionals: ["key"],
  fields: { key: text(["Job key", "the key of the job"], 1, 512) },
  answer: { outcome: "string", operation: "integer?" },
  dialog: "remove",
  examples: ["worker remove sync:acme", "worker remove --ids 42,43"],
  // For jobs given by ids or a query.
  onJobs: {
    words: {
      past: "Removed",
      ask: "Remove {jobs}",
      doing: "Removing {jobs}",
      done: "Removed {jobs}",
    },
    change: () => deletion,
    canary: "none",
    offers: { every: { of: "all", place: 6 } },
    operation: {
      verb: "Remove",
      consequence: "The jobs are deleted and never run.",
      fields: { ids: jobIds },
    },
  },
  prepare: (db, { key }) => untilNotFetched(db, { key }),
  run: async (db, { key }, { recordFor }): Promise<RemoveResult> => {
    const record = actionRecordOf(recordFor, "remove");
    return record === null
      ? { ...(await removeAtOnce(db, key)), operationId: null }
      : removeRecorded(db, key, record);
  },
  sentence: ({ outcome }, { key }) => {
    switch (outcome) {
      case "removed":
        return `Removed the job with the key ${key}`;
      case "locked":
        return `The job with the key ${key} is locked: it has lost its key and will not be retried`;
      case "absent":
        return `There is no job with the key ${key}`;
      default:
        return outcome satisfies never;
    }
  },
  tally: ({ outcome }) => ({ requested: 1, done: outcome === "removed" ? 1 : 0 }),
  jobIds: ({ job }) => (job === null ? [] : [job.id]),
  operationId: ({ operationId }) => operationId,
  members: ({ outcome, operationId }) => ({
    outcome: JSON.stringify(outcome),
    operation: operationId ?? "null",
  }),
});
