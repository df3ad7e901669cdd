// Ends jobs as if their attempts were used up: they stay, as failed, until someone acts on them.
import { validate } from "../../base/validate.ts";
import type { Database } from "../../database/database.ts";
import { checkedJobIds } from "../../domain/job-ids.ts";
import { boundedText } from "../../domain/job-spec.ts";
import { markedFailed } from "../../domain/words.ts";
import { actOnJobs, type Changed } from "../before-images/act-on-jobs.ts";
import type { Keeping } from "../before-images/kept-statement.ts";
import { untilNotFetched } from "../before-images/until-not-fetched.ts";
import { defineCommand, keepingOf } from "../declare/command.ts";
import { jobIds, optional, text } from "../declare/field.ts";
import { acted, actedAnswer, actedMembers, actedSentence, actedTally, jobAction } from "./acted.ts";

// As much as a long stack trace needs, and a bound on 10,000 copies of it.
const reasonText = boundedText(0, 65_536);

/**
 * Sets attempts to max_attempts and last_error to `reason` (null: "Manually marked as failed").
 * Returns the jobs that were changed, ascending by id; unknown ids, and jobs locked less than
 * 4 hours ago, are left alone and are not in the answer. Waits up to a second for jobs that a worker has
 * fetched and not started.
 * Throws InputError for bad ids (see completeJobs) or a reason longer than 65,536 characters.
 */
export async function permanentlyFailJobs(
  db: Database,
  ids: readonly string[],
  reason: string | null,
  keeping: Keeping | null = null,
): Promise<Changed> {
  const checked = reason === null ? null : validate(reasonText, reason);
  await untilNotFetched(db, { ids: checkedJobIds(ids) });
  return actOnJobs(db, { kind: "fail", change: failChange, values: [checked] }, ids, keeping);
}

const failChange = (s: string) => `update ${s}._private_jobs as jobs
    set
      last_error = coalesce($2::text, 'Manually marked as failed'),
      attempts = jobs.max_attempts,
      updated_at = pg_catalog.now()`;

const DEFAULT_REASON = markedFailed("from the worker admin UI");

export const failCommand = defineCommand({
  name: "fail",
  aliases: [],
  summary: "Fail jobs for good: they stay, but are not tried again",
  title: "Fail jobs",
  verb: "Fail",
  consequence: "The jobs get no more attempts, so they do not run again by themselves.",
  consequenceOfOne: "The job gets no more attempts, so it does not run again by itself.",
  weight: "light",
  danger: "destroys",
  http: jobAction("fail"),
  positionals: ["ids"],
  fields: {
    ids: jobIds,
    reason: optional(text(["Reason", "stands as the job's last error"], 0, 10_000), {
      default: DEFAULT_REASON,
      shellDefault: markedFailed("from the command line"),
    }),
  },
  answer: actedAnswer,
  run: async (db, { ids, reason }, { keepFor }) => {
    const said = reason?.trim() ? reason : DEFAULT_REASON;
    const keeping = keepingOf(keepFor, "fail", { reason: said });
    return acted(db, ids, await permanentlyFailJobs(db, ids, said, keeping));
  },
  operationId: ({ operationId }) => operationId,
  sentence: (result, input) => actedSentence("Failed", result, input),
  tally: (result, input) => actedTally(result, input),
  members: actedMembers,
});
