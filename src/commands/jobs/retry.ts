// Gives jobs all their attempts back and lets them run now: what one does with failed jobs once
// their cause is repaired.
import { jobIds, maxAttempts, optional, priority } from "../declare/field.ts";
import { defineJobAction } from "./acted.ts";
import { movingBy } from "./reschedule-jobs.ts";

export const retryCommand = defineJobAction({
  name: "retry",
  summary: "Retry jobs: run them now, with all their attempts given back",
  title: "Retry jobs",
  verb: "Retry",
  consequence: "The jobs have all their attempts again, and the next free workers take them.",
  consequenceOfOne: "The job has all its attempts again, and the next free worker takes it.",
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
