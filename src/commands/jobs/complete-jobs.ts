// Completes jobs as if they had succeeded: deletes their rows.
import type { Database } from "../../database/database.ts";
import { actOnJobsInTurn, type ChangeResult } from "../before-images/act-on-jobs.ts";
import { deletion } from "../before-images/job-change.ts";
import type { ActionRecord } from "../before-images/recorded-statement.ts";
import { jobIds } from "../declare/field.ts";
import { defineJobAction } from "./define-job-action.ts";

/**
 * Deletes the jobs and returns their last state, ascending by id. Unknown ids, and jobs locked less than 4 hours ago,
 * are skipped and not returned. Throws InputError if the list is empty, longer than 10,000, or contains anything but
 * job ids.
 */
export async function completeJobs(
  db: Database,
  ids: readonly string[],
  record: ActionRecord | null = null,
): Promise<ChangeResult> {
  return actOnJobsInTurn(db, deletion, ids, record);
}

export const completeCommand = defineJobAction({
  name: "complete",
  summary: "Complete jobs: delete them as if they had succeeded",
  title: "Complete jobs",
  verb: "Complete",
  consequence: "The jobs are deleted and never run.",
  consequenceOfOne: "The job is deleted and never runs.",
  danger: "destroys",
  fields: { ids: jobIds },
  examples: ["worker complete 42", "worker complete 'task:send_email is:failed' --dry-run"],
  onJobs: {
    words: {
      past: "Completed",
      ask: "Complete {jobs}",
      doing: "Completing {jobs}",
      done: "Completed {jobs}",
    },
    change: () => deletion,
    canary: "none",
    offers: {
      one: { of: "all", place: 4 },
      selected: "all",
      every: { of: "all", place: 5 },
    },
  },
});
