// Ends the retries of jobs that fail, or crash their worker, at each attempt. Unlike most actions, this one also
// changes running jobs.
import type { Database } from "../../database/database.ts";
import { actOnJobsInTurn, type ChangeResult } from "../before-images/act-on-jobs.ts";
import type { JobChange } from "../before-images/job-change.ts";
import type { ActionRecord } from "../before-images/recorded-statement.ts";
import { jobIds } from "../declare/field.ts";
import { defineJobAction } from "./define-job-action.ts";

/**
 * Sets max_attempts to the number of attempts that have counted, but at least to 1. So a running attempt becomes the
 * last, a job that has not run yet runs once, and a retrying job fails at once with its last error. Returns the changed
 * jobs, including running ones, ascending by id.
 */
export function stopRetrying(
  db: Database,
  ids: readonly string[],
  record: ActionRecord | null = null,
): Promise<ChangeResult> {
  return actOnJobsInTurn(db, limiting, ids, record);
}

const limiting: JobChange = {
  set: { max_attempts: ({ row }) => `greatest(1::smallint, ${row}.attempts)` },
  mayRun: true,
};

export const stopRetryingCommand = defineJobAction({
  name: "stop-retrying",
  summary:
    "Stop retrying jobs: failed attempts are not repeated, and a running attempt is the last",
  title: "Stop retrying jobs",
  verb: "Stop retrying",
  consequence:
    "The jobs are not retried. A running attempt is the last; a job that has not started runs once.",
  consequenceOfOne:
    "The job is not retried. A running attempt is the last; a job that has not started runs once.",
  danger: "changes",
  fields: { ids: jobIds },
  dialogFields: [],
  key: "t",
  examples: [
    "worker stop-retrying 42",
    "worker stop-retrying 'task:send_email is:retrying' --dry-run",
  ],
  onJobs: {
    words: {
      past: "Stopped retrying",
      ask: "Stop retrying {jobs}",
      doing: "Stopping retries of {jobs}",
      done: "Stopped retrying {jobs}",
    },
    change: () => limiting,
    canary: "none",
    offers: {
      one: { of: "not failed", place: 0 },
      selected: "not failed",
      every: { of: "not failed", place: 3 },
    },
  },
});
