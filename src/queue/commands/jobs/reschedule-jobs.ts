// Changes when, how urgently and how often jobs may still run.
import * as v from "valibot";
import { strict, validate } from "../../../base/validate.ts";
import type { Database } from "../../../database/database.ts";
import { checkedJobIds } from "../../../domain/job-ids.ts";
import { attemptCount, attemptLimit, smallint } from "../../../domain/job-spec.ts";
import { moment } from "../../../domain/moment.ts";
import { actOnJobs, type Changed } from "../../kept/act-on-jobs.ts";
import type { Keeping } from "../../kept/kept-statement.ts";
import { untilNotFetched } from "../../kept/until-not-fetched.ts";
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

/** What is not given stays as it is. */
export interface JobChanges {
  /** A Date, RFC 3339 text with a zone, or `now`: this moment by the database's clock. */
  readonly runAt?: Date | string | undefined;
  /** Lower runs earlier, smallint. */
  readonly priority?: number | undefined;
  /** Attempts made so far, 0–32,767. Below max_attempts a failed job runs again. */
  readonly attempts?: number | undefined;
  /** 1–32,767. */
  readonly maxAttempts?: number | undefined;
}

const changesSchema = v.pipe(
  strict({
    runAt: v.optional(v.union([v.literal("now"), moment], MOMENT())),
    priority: v.optional(smallint),
    attempts: v.optional(attemptCount),
    maxAttempts: v.optional(attemptLimit),
  }),
  v.check(
    (changes) => Object.values(changes).some((value) => value !== undefined),
    "at least one of runAt, priority, attempts and maxAttempts is needed",
  ),
);

function MOMENT(): string {
  return 'must be "now", a Date, or an RFC 3339 time with a zone, such as 2026-01-31T08:00:00Z';
}

/**
 * Applies `changes` to the jobs and returns those that were changed, ascending by id. Unknown ids,
 * and jobs locked less than 4 hours ago, are left alone and are not in the answer. Waits up to a second for
 * jobs that a worker has fetched and not started.
 * Throws InputError for bad ids (see completeJobs), no change at all, or a value out of range.
 */
export async function rescheduleJobs(
  db: Database,
  ids: readonly string[],
  changes: JobChanges,
  keeping: Keeping | null = null,
): Promise<Changed> {
  const { runAt, priority, attempts, maxAttempts } = validate(changesSchema, changes);
  await untilNotFetched(db, { ids: checkedJobIds(ids) });
  const values = [
    runAt === "now",
    runAt === undefined || runAt === "now" ? null : runAt,
    priority ?? null,
    attempts ?? null,
    maxAttempts ?? null,
  ];
  return actOnJobs(db, { kind: "reschedule", change: rescheduleChange, values }, ids, keeping);
}

const rescheduleChange = (s: string) => `update ${s}._private_jobs as jobs
    set
      run_at = case when $2::boolean then pg_catalog.now() else coalesce($3::text::timestamptz, jobs.run_at) end,
      priority = coalesce($4::int::smallint, jobs.priority),
      attempts = coalesce($5::int::smallint, jobs.attempts),
      max_attempts = coalesce($6::int::smallint, jobs.max_attempts),
      updated_at = pg_catalog.now()`;

export const rescheduleCommand = defineCommand({
  name: "reschedule",
  aliases: [],
  summary: "Reschedule jobs: change when, how urgently and how often they run",
  title: "Reschedule jobs",
  verb: "Reschedule",
  consequence: "What is given is changed; what stays empty is left as it is.",
  permission: "jobs:write",
  danger: "changes",
  http: jobAction("reschedule"),
  positionals: ["ids"],
  fields: {
    ids: jobIds,
    run_at: optional(time(["Run at", "not before this time"])),
    priority: optional(priority),
    attempts: optional(attempts),
    max_attempts: optional(maxAttempts),
  },
  needsOneOf: ["run_at", "priority", "attempts", "max_attempts"],
  answer: actedAnswer,
  run: async (db, { ids, ...changes }, { keepFor }) => {
    const { run_at: runAt, priority, attempts, max_attempts: maxAttempts } = changes;
    const keeping = keepingOf(keepFor, "reschedule", changes);
    const named = { runAt, priority, attempts, maxAttempts };
    const result = await acted(db, ids, await rescheduleJobs(db, ids, named, keeping));
    // They have the time now, but when it comes nobody takes them.
    const spent = runAt === undefined ? [] : result.jobs.filter(isSpent).map(({ id }) => id);
    return { ...result, spent };
  },
  operationId: ({ operationId }) => operationId,
  sentence: (result, input) => actedSentence("Rescheduled", result, input),
  tally: (result, input) => actedTally(result, input),
  members: actedMembers,
});
