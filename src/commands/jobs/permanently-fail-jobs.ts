// Fails jobs for good: they have no attempts left, and stay in the table as failed jobs.
import { validate } from "../../base/validate.ts";
import type { Database } from "../../database/database.ts";
import { boundedText } from "../../domain/job-spec.ts";
import { markedFailed } from "../../domain/words.ts";
import {
  actionRecordOf,
  actOnJobs,
  actOnJobsInTurn,
  type ChangeResult,
} from "../before-images/act-on-jobs.ts";
import type { JobChange } from "../before-images/job-change.ts";
import type { ActionRecord } from "../before-images/recorded-statement.ts";
import { jobIds, optional, text } from "../declare/field.ts";
import { defineJobAction, jobActionResult } from "./define-job-action.ts";

// The maximum length of a reason is enough for a long stack trace. It is not larger, because one call may store
// 10,000 copies of the reason.
const reasonText = boundedText(0, 65_536);

/**
 * Sets the jobs' attempts to max_attempts, and last_error to `reason` (null: "Manually marked as failed"). First waits
 * up to a second until none of the jobs is fetched. Unknown ids, and jobs locked less than 4 hours ago, are skipped.
 * Returns the changed jobs, ascending by id. Throws InputError if `ids` is empty, longer than 10,000, or contains
 * anything but job ids, or if the reason is longer than 65,536 characters.
 */
export async function permanentlyFailJobs(
  db: Database,
  ids: readonly string[],
  reason: string | null,
  record: ActionRecord | null = null,
): Promise<ChangeResult> {
  const checked = reason === null ? null : validate(reasonText, reason);
  return actOnJobsInTurn(db, failChange(checked), ids, record);
}

/**
 * Returns the change. `reason`: the jobs' last error; null for the text that Graphile Worker's function
 * permanently_fail_jobs() sets.
 */
const failChange = (reason: string | null): JobChange => ({
  set: {
    last_error: (_, parameter) =>
      `coalesce(${parameter(reason, "text")}, 'Manually marked as failed')`,
    attempts: ({ row }) => `${row}.max_attempts`,
  },
});

const DEFAULT_REASON = markedFailed("from the worker admin UI");

const hasText = (reason: unknown): reason is string =>
  typeof reason === "string" && reason.trim() !== "";

export const failCommand = defineJobAction({
  name: "fail",
  summary: "Fail jobs permanently: they stay, but are not retried",
  title: "Fail jobs",
  verb: "Fail",
  consequence: "The jobs get no more attempts and do not run again by themselves.",
  consequenceOfOne: "The job gets no more attempts and does not run again by itself.",
  danger: "destroys",
  fields: {
    ids: jobIds,
    reason: optional(text(["Reason", "reason, which becomes the job's last error"], 0, 10_000), {
      default: DEFAULT_REASON,
      shellDefault: markedFailed("from the command line"),
    }),
  },
  examples: ["worker fail 42 --reason 'no longer needed'", "worker fail 'queue:imports' --dry-run"],
  onJobs: {
    words: {
      past: "Marked as failed:",
      ask: "Fail {jobs}",
      doing: "Marking {jobs} as failed",
      done: "Marked {jobs} as failed",
    },
    change: ({ reason }) => failChange(hasText(reason) ? reason : markedFailed("by an operation")),
    canary: "none",
    offers: {
      one: { of: "not failed", place: 5 },
      selected: "not failed",
      every: { of: "not failed", place: 4 },
    },
  },
  run: async (db, { ids, reason }, { recordFor }) => {
    const stored = hasText(reason) ? reason : DEFAULT_REASON;
    const record = actionRecordOf(recordFor, "fail", { reason: stored });
    return jobActionResult(db, ids, await actOnJobs(db, failChange(stored), ids, record));
  },
});
