// Cancels jobs. A waiting job fails or is deleted. For a job that was locked less than 4 hours ago, a request is
// stored, which the job's worker reads. A Graphile worker does not read requests.

import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import {
  CONTROL_TABLES,
  missingTables,
  requireTables,
} from "../../database/schema/extensions/missing-tables.ts";
import { checkedJobIds } from "../../domain/job-ids.ts";
import { boundedText } from "../../domain/job-spec.ts";
import { cancelledText, countText, numberText } from "../../domain/words.ts";
import { isFailed } from "../../queue/sql/job-state.ts";
import { actionRecordOf, actOnJobs, type ChangeResult } from "../before-images/act-on-jobs.ts";
import { deletion, type JobChange } from "../before-images/job-change.ts";
import type { ActionRecord } from "../before-images/recorded-statement.ts";
import { cancelRequests } from "../cancel/cancel-requests.ts";
import { endsOf, waitForCancelledJobs } from "../cancel/wait-for-cancelled.ts";
import { defineCommand } from "../declare/command.ts";
import { flag, jobIds, optional, text } from "../declare/field.ts";
import { idList, jobsMember } from "./define-job-action.ts";

/** Options of cancelJobs(). */
export interface CancelOptions {
  /** The reason, at most 200 characters: a part of `last_error` and of the error that aborts the job's signal. */
  readonly reason?: string | null | undefined;
  /** Deletes waiting jobs instead of failing them. Default false. */
  readonly remove?: boolean | undefined;
  /** The name of the user, at most 128 characters. The name is shown while a job is being cancelled. */
  readonly cancelledBy?: string | null | undefined;
}

/** What cancelJobs() has done with a job. */
export interface CancelledJob {
  /** The job's id. */
  readonly id: string;
  /**
   * `cancelled`: the job was waiting, or was locked more than 4 hours ago. The job has now failed or is deleted.
   * `cancelling`: a worker has locked the job, or a transaction has locked the job's row. If the job runs in a worker
   * of this library, the job's signal aborts soon. waitForCancelledJobs() waits for the end of the job. `failed`: the
   * job had failed before.
   */
  readonly outcome: "cancelled" | "cancelling" | "failed" | "not_found";
}

/** The jobs by outcome. `jobs`: the cancelled jobs. */
export interface CancelJobsResult extends ChangeResult {
  readonly cancelling: readonly string[];
  readonly failed: readonly string[];
  readonly missing: readonly string[];
}

interface Cancel {
  readonly reason: string | null;
  readonly remove: boolean;
  readonly by: string | null;
}

const optionsSchema = strict({
  reason: v.nullish(boundedText(1, 200), null),
  remove: v.optional(v.boolean("must be true or false"), false),
  cancelledBy: v.nullish(boundedText(1, 128), null),
});

/**
 * Cancels jobs, and returns the outcome of each distinct id, in the order of `ids`. Throws InputError for invalid
 * input, and `extension_missing` if the schema lacks the tables for cancelling.
 */
export async function cancelJobs(
  db: Database,
  ids: readonly string[],
  options: CancelOptions = {},
): Promise<CancelledJob[]> {
  const checked = checkedJobIds(ids);
  const { cancelledBy: by, ...rest } = validate(optionsSchema, options);
  await requireTables(db, CONTROL_TABLES, "cancelling jobs");
  return outcomesOf(await cancel(db, checked, { ...rest, by }, null), checked);
}

function outcomesOf(
  { jobs, cancelling, failed }: CancelJobsResult,
  ids: readonly string[],
): CancelledJob[] {
  const outcomes = new Map<string, CancelledJob["outcome"]>([
    ...jobs.map(({ id }) => [id, "cancelled"] as const),
    ...cancelling.map((id) => [id, "cancelling"] as const),
    ...failed.map((id) => [id, "failed"] as const),
  ]);
  return ids.map((id) => ({ id, outcome: outcomes.get(id) ?? "not_found" }));
}

async function cancel(
  db: Database,
  ids: readonly string[],
  how: Cancel,
  record: ActionRecord | null,
): Promise<CancelJobsResult> {
  const before = await query<ExistingJob>(db, presentSql, [ids]);
  const failed = before.filter(({ is_failed: isOver }) => isOver).map(({ id }) => id);
  const hasFailed = new Set(failed);
  const others = ids.filter((id) => !hasFailed.has(id));
  const changed =
    others.length === 0
      ? { jobs: [], operationId: null }
      : await actOnJobs(db, cancelChange(how), others, record);
  const done = new Set(changed.jobs.map(({ id }) => id));
  const left = before.filter(({ id, is_failed: isOver }) => !isOver && !done.has(id));
  const present = new Set(before.map(({ id }) => id));
  return {
    ...changed,
    failed,
    cancelling: left.map(({ id }) => id),
    missing: [...new Set(ids)].filter((id) => !present.has(id)),
  };
}

interface ExistingJob {
  readonly id: string;
  readonly is_failed: boolean;
}

const presentSql: Statement = (s) => `
  select jobs.id::text, ${isFailed("jobs")} as is_failed
  from ${s}._private_jobs as jobs where jobs.id = any($1::bigint[]) order by jobs.id`;

const cancelChange = ({ reason, remove, by }: Cancel): JobChange => ({
  ...(remove
    ? deletion
    : {
        set: {
          last_error: (_, parameter) => parameter(cancelledText(reason), "text"),
          attempts: ({ row }) => `${row}.max_attempts`,
        },
      }),
  ofRunning: (s, running, parameter) =>
    cancelRequests(s, running, {
      reason: parameter(reason, "text"),
      by: parameter(by, "text"),
    }),
});

const OF_RUNNING = ["runs and is being cancelled", "run and are being cancelled"] as const;

const hasText = (reason: unknown): reason is string =>
  typeof reason === "string" && reason.trim() !== "";

export const cancelCommand = defineCommand({
  name: "cancel",
  summary: "Cancel jobs: waiting jobs fail, the signals of running jobs abort",
  title: "Cancel jobs",
  verb: "Cancel",
  consequence:
    "Jobs that have not started fail without running. The signal of a running job aborts, and its task decides: if it then throws, the job has failed and is not retried; if it returns, the job is completed.",
  consequenceOfOne:
    "If the job has not started, it fails without running. If it runs, its signal aborts, and its task decides: if it then throws, the job has failed and is not retried; if it returns, the job is completed.",
  aliases: [],
  weight: "light",
  danger: "destroys",
  http: { path: "/api/jobs/action", action: "cancel" },
  positionals: ["ids"],
  fields: {
    ids: jobIds,
    reason: optional(text(["Reason", "reason, which is part of the job's last error"], 0, 200)),
    remove: optional(flag(["Remove", "delete waiting jobs, instead of keeping them as failed"])),
  },
  dialogFields: ["reason"],
  examples: [
    "worker cancel 42 --reason 'wrong file'",
    "worker cancel 42 --wait",
    "worker cancel 'task:import_file' --dry-run",
  ],
  answer: {
    ...{ jobs: "ChangedJob[]", operation: "integer?" },
    ...{ cancelling: "integer", outcomes: "CancelledJob[]" },
  },
  onJobs: {
    words: {
      past: "Cancelled",
      ask: "Cancel {jobs}",
      doing: "Cancelling {jobs}",
      done: "Cancelled {jobs}",
    },
    change: (changes, by) => cancelChange(howOf(changes, by)),
    canary: "none",
    ofRunning: OF_RUNNING,
    leavesOut: "is:failed",
    missing: (db) => missingTables(db, CONTROL_TABLES, "cancelling jobs"),
    offers: {
      one: { of: "not failed", place: 1 },
      selected: "not failed",
      every: { of: "not failed", place: 4 },
      firstFor: ["running", "fetched"],
    },
  },
  prepare: (db) => requireTables(db, CONTROL_TABLES, "cancelling jobs"),
  run: (db, { ids, ...given }, { recordFor, by = null }) => {
    const changes = Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    );
    return cancel(db, ids, howOf(given, by), actionRecordOf(recordFor, "cancel", changes));
  },
  operationId: ({ operationId }) => operationId,
  sentence: (result, { ids }) => sentenceOf(result, new Set(ids).size),
  tally: ({ jobs }, { ids }) => ({ requested: new Set(ids).size, done: jobs.length }),
  isPartial: ({ failed, missing }) => failed.length + missing.length > 0,
  wait: async (db, { jobs, cancelling, failed }, { ids }) => {
    const open = [...cancelling, ...failed];
    const waited = open.length === 0 ? [] : await waitForCancelledJobs(db, open);
    return endsOf([...new Set(ids)], new Set(jobs.map(({ id }) => id)), waited);
  },
  members: (result, { ids }) => ({
    ...jobsMember(result.jobs),
    operation: result.operationId ?? "null",
    cancelling: String(result.cancelling.length),
    outcomes: `[${outcomesOf(result, [...new Set(ids)])
      .map(({ id, outcome }) => `{"id":${id},"outcome":"${outcome}"}`)
      .join(",")}]`,
  }),
});

const howOf = (
  { reason, remove }: Readonly<Record<string, unknown>>,
  by: string | null,
): Cancel => ({
  reason: hasText(reason) ? reason : null,
  remove: remove === true,
  by,
});

/** Returns for example `Cancelled 1 of 3 jobs; 1 runs and is being cancelled: #7; 1 had failed before: #8`. */
function sentenceOf(
  { jobs, cancelling, failed, missing }: CancelJobsResult,
  requested: number,
): string {
  const others = [
    [countText(cancelling.length, ...OF_RUNNING), cancelling],
    [`${numberText(failed.length)} had failed before`, failed],
    [`${numberText(missing.length)} not found`, missing],
  ] as const;
  return [
    `Cancelled ${numberText(jobs.length)} of ${countText(requested, "job")}`,
    ...others.flatMap(([words, ids]) => (ids.length === 0 ? [] : [`${words}: ${idList(ids)}`])),
  ].join("; ");
}
