// Gives jobs all their attempts back and lets them run now: what one does with failed jobs once
// their cause is mended.
import { defineCommand, keepingOf } from "../declare/command.ts";
import { jobIds, maxAttempts, optional, priority } from "../declare/field.ts";
import { acted, actedAnswer, actedMembers, actedSentence, actedTally, jobAction } from "./acted.ts";
import { rescheduleJobs } from "./reschedule-jobs.ts";

export const retryCommand = defineCommand({
  name: "retry",
  aliases: [],
  summary: "Retry jobs: run them now, with all their attempts given back",
  title: "Retry jobs",
  verb: "Retry",
  consequence: "The jobs have all their attempts again, and the next free workers take them.",
  consequenceOfOne: "The job has all its attempts again, and the next free worker takes it.",
  weight: "light",
  danger: "changes",
  http: jobAction("retry"),
  positionals: ["ids"],
  fields: { ids: jobIds, priority: optional(priority), max_attempts: optional(maxAttempts) },
  forState: "failed",
  dialogFields: [],
  answer: actedAnswer,
  run: async (db, { ids, ...changes }, { keepFor }) => {
    const { priority, max_attempts: maxAttempts } = changes;
    const named = { runAt: "now", attempts: 0, priority, maxAttempts };
    const keeping = keepingOf(keepFor, "retry", changes);
    return acted(db, ids, await rescheduleJobs(db, ids, named, keeping));
  },
  operationId: ({ operationId }) => operationId,
  sentence: (result, input) => actedSentence("Retried", result, input),
  tally: (result, input) => actedTally(result, input),
  members: actedMembers,
});
