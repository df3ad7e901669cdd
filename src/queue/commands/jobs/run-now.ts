// Makes jobs run as soon as a worker is free: their time becomes now. Attempts stay as they are, so a
// failed job needs attempts with it, or `retry`.
import { now } from "../../../base/clock.ts";
import { microsecondsOf } from "../../../domain/moment.ts";
import { defineCommand, keepingOf } from "../declare/command.ts";
import { attempts, jobIds, maxAttempts, optional, priority, time } from "../declare/field.ts";
import {
  acted,
  actedAnswer,
  actedMembers,
  actedSentence,
  actedTally,
  isSpent,
  jobAction,
} from "./acted.ts";
import { rescheduleJobs } from "./reschedule-jobs.ts";

export const runNowCommand = defineCommand({
  name: "run-now",
  aliases: [],
  summary: "Run jobs now: their time becomes this moment",
  title: "Run jobs now",
  verb: "Run now",
  consequence: "The jobs' time is set to now: the next free workers take them.",
  consequenceOfOne: "The job's time is set to now: the next free worker takes it.",
  permission: "jobs:write",
  danger: "changes",
  http: jobAction("run-now"),
  positionals: ["ids"],
  fields: {
    ids: jobIds,
    // Programs that fill in every field send the present time here.
    run_at: optional(time(["Run at", "not needed: it is always now"]), { isHidden: true }),
    priority: optional(priority),
    attempts: optional(attempts),
    max_attempts: optional(maxAttempts),
  },
  dialogFields: [],
  answer: actedAnswer,
  problems: ({ run_at: runAt }) =>
    runAt === undefined || !isAhead(runAt)
      ? []
      : [{ path: "run_at", message: "lies ahead: run-now runs at once; use reschedule" }],
  run: async (db, { ids, run_at: _, ...changes }, { keepFor }) => {
    const { priority, attempts, max_attempts: maxAttempts } = changes;
    const named = { runAt: "now", priority, attempts, maxAttempts };
    const keeping = keepingOf(keepFor, "run-now", changes);
    return acted(db, ids, await rescheduleJobs(db, ids, named, keeping));
  },
  operationId: ({ operationId }) => operationId,
  sentence: (result, input) =>
    actedSentence("Rescheduled to run now:", result, input, result.jobs.filter(isSpent).length),
  tally: (result, input) => actedTally(result, input, result.jobs.filter(isSpent).length),
  members: actedMembers,
});

function isAhead(runAt: string): boolean {
  return runAt !== "now" && microsecondsOf(runAt) > BigInt(now()) * 1_000n;
}
