// Ends jobs as if they had succeeded: their rows are deleted.
import type { Database } from "../../database/database.ts";
import { actOnJobs, type Changed } from "../before-images/act-on-jobs.ts";
import type { Keeping } from "../before-images/kept-statement.ts";
import { defineCommand, keepingOf } from "../declare/command.ts";
import { jobIds } from "../declare/field.ts";
import { acted, actedAnswer, actedMembers, actedSentence, actedTally, jobAction } from "./acted.ts";

/**
 * Deletes the jobs and returns them as they were, ascending by id. Unknown ids, and jobs locked less
 * than 4 hours ago, are left alone and are not in the answer.
 * Throws InputError for a list that is empty, longer than 10,000 or holds something but job ids.
 */
export async function completeJobs(
  db: Database,
  ids: readonly string[],
  keeping: Keeping | null = null,
): Promise<Changed> {
  return actOnJobs(
    db,
    { kind: "delete", change: (s) => `delete from ${s}._private_jobs as jobs`, values: [] },
    ids,
    keeping,
  );
}

export const completeCommand = defineCommand({
  name: "complete",
  aliases: [],
  summary: "Complete jobs: delete them as if they had succeeded",
  title: "Complete jobs",
  verb: "Complete",
  consequence: "The jobs are deleted and never run.",
  consequenceOfOne: "The job is deleted and never runs.",
  weight: "light",
  danger: "destroys",
  http: jobAction("complete"),
  positionals: ["ids"],
  fields: { ids: jobIds },
  answer: actedAnswer,
  run: async (db, { ids }, { keepFor }) =>
    acted(db, ids, await completeJobs(db, ids, keepingOf(keepFor, "complete"))),
  operationId: ({ operationId }) => operationId,
  sentence: (result, input) => actedSentence("Completed", result, input),
  tally: (result, input) => actedTally(result, input),
  members: actedMembers,
});
