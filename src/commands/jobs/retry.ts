// Retries jobs: sets their attempts to 0 and their `run_at` to now. Meant for failed jobs, after the cause of their
// failure has been fixed.
import { jobIds, maxAttempts, optional, priority } from "../declare/field.ts";
import { defineJobAction } from "./define-job-action.ts";
import { movingBy } from "./reschedule-jobs.ts";

export const retryCommand = defineJobAction({
  name: "retry",
  summary: "Retry jobs: reset their attempts and run them now",
  title: "Retry jobs",
  verb: "Retry",
  consequence: "The jobs' attempts are reset to 0, and the jobs run as soon as workers are free.",
  consequenceOfOne: "The job's attempts are reset to 0, and it runs as soon as a worker is free.",
  danger: "changes",
  fields: { ids: jobIds, priority: optional(priority), max_attempts: optional(maxAttempts) },
  forState: "failed",
  dialogFields: [],
  key: "r",
  examples: [
    "worker retry 42",
    "worker retry 'is:failed task:send_email' --dry-run",
    "worker retry is:failed --canary 5 --rate 100",
  ],
  onJobs: {
    words: {
      past: "Retried",
      ask: "Retry {jobs}",
      doing: "Retrying {jobs}",
      done: "Retried {jobs}",
    },
    change: (changes) => movingBy({ ...changes, run_at: "now", attempts: 0 }),
    canary: "usual",
    offers: {
      one: { of: "failed", place: 1 },
      selected: "failed",
      every: { of: "failed", place: 1 },
      firstFor: ["failed"],
    },
  },
});
