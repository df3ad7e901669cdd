// Makes the attempt of a job that has begun its last one: for jobs that fail or crash their worker each time.
// It also works on a job that runs, which every other action leaves alone.
import type { Database } from "../../database/database.ts";
import { actOnJobs, type Changed } from "../before-images/act-on-jobs.ts";
import type { Keeping } from "../before-images/kept-statement.ts";
import { defineCommand, keepingOf } from "../declare/command.ts";
import { jobIds } from "../declare/field.ts";
import { acted, actedAnswer, actedMembers, actedSentence, actedTally, jobAction } from "./acted.ts";

/**
 * Sets max_attempts to the attempts that have begun, at least 1: a running attempt becomes the last, a job
 * that has not begun runs once, a waiting one fails with the error that it has.
 * Returns the jobs that were changed, ascending by id, running ones among them.
 * Throws InputError for bad ids (see completeJobs).
 */
export function stopRetrying(
  db: Database,
  ids: readonly string[],
  keeping: Keeping | null = null,
): Promise<Changed> {
  return actOnJobs(db, { kind: "limit", change: limitChange, values: [] }, ids, keeping);
}

const limitChange = (s: string) => `update ${s}._private_jobs as jobs
    set
      max_attempts = greatest(1::smallint, jobs.attempts),
      updated_at = pg_catalog.now()`;

export const stopRetryingCommand = defineCommand({
  name: "stop-retrying",
  aliases: [],
  summary: "Stop retrying jobs: the attempt that has begun is the last, also while it runs",
  title: "Stop retrying jobs",
  verb: "Stop retrying",
  consequence:
    "The jobs get no further attempts. Where one runs, it is the last; a job that has not begun runs once.",
  consequenceOfOne:
    "The job gets no further attempts. If one runs, it is the last; if none has begun, it runs once.",
  weight: "light",
  danger: "changes",
  http: jobAction("stop-retrying"),
  positionals: ["ids"],
  fields: { ids: jobIds },
  dialogFields: [],
  answer: actedAnswer,
  run: async (db, { ids }, { keepFor }) =>
    acted(db, ids, await stopRetrying(db, ids, keepingOf(keepFor, "stop-retrying", {}))),
  operationId: ({ operationId }) => operationId,
  sentence: (result, input) => actedSentence("Stopped retrying", result, input),
  tally: (result, input) => actedTally(result, input),
  members: actedMembers,
});
