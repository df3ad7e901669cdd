// Changes when, how urgently and how often jobs may still run.
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import type { Database } from "../../database/database.ts";
import { checkedJobIds } from "../../domain/job-ids.ts";
import { attemptCount, attemptLimit, smallint } from "../../domain/job-spec.ts";
import { moment } from "../../domain/moment.ts";
import { actOnJobs, type Changed } from "../before-images/act-on-jobs.ts";
import type { Keeping } from "../before-images/kept-statement.ts";
import { movedRunAt } from "../before-images/moved-run-at.ts";
import { untilNotFetched } from "../before-images/until-not-fetched.ts";
import { defineCommand, keepingOf } from "../declare/command.ts";
import {
  attempts,
  duration,
  jobIds,
  maxAttempts,
  optional,
  priority,
  shift,
  time,
} from "../declare/field.ts";
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
  /** Moves each job by so many milliseconds from its own time, back if negative; up to a year. Not with runAt. */
  readonly shiftMs?: number | undefined;
  /** Spreads the jobs evenly over so many milliseconds from the given time, or from their own; up to a year. */
  readonly spreadMs?: number | undefined;
  /** Lower runs earlier, smallint. */
  readonly priority?: number | undefined;
  /** Attempts made so far, 0–32,767. Below max_attempts a failed job runs again. */
  readonly attempts?: number | undefined;
  /** 1–32,767. */
  readonly maxAttempts?: number | undefined;
}

const YEAR_MS = 365 * 86_400_000;

const milliseconds = (least: number) =>
  v.pipe(
    v.number("must be a number of milliseconds"),
    v.check((ms) => ms >= least && ms <= YEAR_MS, `must be from ${least} to ${YEAR_MS} ms`),
  );

const changesSchema = v.pipe(
  strict({
    runAt: v.optional(v.union([v.literal("now"), moment], MOMENT())),
    shiftMs: v.optional(milliseconds(-YEAR_MS)),
    spreadMs: v.optional(milliseconds(0)),
    priority: v.optional(smallint),
    attempts: v.optional(attemptCount),
    maxAttempts: v.optional(attemptLimit),
  }),
  v.check(
    (changes) => Object.values(changes).some((value) => value !== undefined),
    "at least one of runAt, shiftMs, spreadMs, priority, attempts and maxAttempts is needed",
  ),
  v.check(
    ({ runAt, shiftMs }) => runAt === undefined || shiftMs === undefined,
    "runAt and shiftMs exclude each other",
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
  const { runAt, shiftMs, spreadMs, priority, attempts, maxAttempts } = validate(
    changesSchema,
    changes,
  );
  await untilNotFetched(db, { ids: checkedJobIds(ids) });
  const values = [
    runAt === "now",
    runAt === undefined || runAt === "now" ? null : runAt,
    priority ?? null,
    attempts ?? null,
    maxAttempts ?? null,
    secondsOf(shiftMs),
    secondsOf(spreadMs),
  ];
  return actOnJobs(db, { kind: "reschedule", change: rescheduleChange, values }, ids, keeping);
}

const millisecondsOf = (secs: number | undefined) =>
  secs === undefined ? undefined : secs * 1_000;

const secondsOf = (ms: number | undefined) => (ms === undefined ? null : ms / 1_000);

const rescheduleChange = (s: string) => `update ${s}._private_jobs as jobs
    set
      run_at = ${movedRunAt(GIVEN_OR_OWN, "jobs.id", "$7::double precision", "$8::double precision")},
      priority = coalesce($4::int::smallint, jobs.priority),
      attempts = coalesce($5::int::smallint, jobs.attempts),
      max_attempts = coalesce($6::int::smallint, jobs.max_attempts),
      updated_at = pg_catalog.now()`;

const GIVEN_OR_OWN =
  "case when $2::boolean then pg_catalog.now() else coalesce($3::text::timestamptz, jobs.run_at) end";

export const rescheduleCommand = defineCommand({
  name: "reschedule",
  aliases: [],
  summary: "Reschedule jobs: change when, how urgently and how often they run",
  title: "Reschedule jobs",
  verb: "Reschedule",
  consequence: "What is given is changed; what stays empty is left as it is.",
  weight: "light",
  danger: "changes",
  http: jobAction("reschedule"),
  positionals: ["ids"],
  fields: {
    ids: jobIds,
    run_at: optional(time(["Run at", "not before this time"])),
    shift: optional(shift(["Shift by", "seconds by which each job moves from its own time"])),
    spread: optional(
      duration([
        "Spread over",
        "seconds over which the jobs are spread, from the time given or their own",
      ]),
    ),
    priority: optional(priority),
    attempts: optional(attempts),
    max_attempts: optional(maxAttempts),
  },
  needsOneOf: ["run_at", "shift", "spread", "priority", "attempts", "max_attempts"],
  answer: actedAnswer,
  problems: ({ run_at: runAt, shift }) =>
    runAt === undefined || shift === undefined
      ? []
      : [{ path: "shift", message: "moves each job from its own time: leave out run_at, or this" }],
  run: async (db, { ids, ...changes }, { keepFor }) => {
    const { run_at: runAt, shift, spread, priority, attempts, max_attempts: maxAttempts } = changes;
    const keeping = keepingOf(keepFor, "reschedule", changes);
    const moved = { runAt, shiftMs: millisecondsOf(shift), spreadMs: millisecondsOf(spread) };
    const named = { ...moved, priority, attempts, maxAttempts };
    const result = await acted(db, ids, await rescheduleJobs(db, ids, named, keeping));
    // They have the time now, but when it comes nobody takes them.
    const isMoved = [runAt, shift, spread].some((value) => value !== undefined);
    const spent = !isMoved ? [] : result.jobs.filter(isSpent).map(({ id }) => id);
    return { ...result, spent };
  },
  operationId: ({ operationId }) => operationId,
  sentence: (result, input) => actedSentence("Rescheduled", result, input),
  tally: (result, input) => actedTally(result, input),
  members: actedMembers,
});
