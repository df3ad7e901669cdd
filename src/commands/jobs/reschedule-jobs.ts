// Changes the time, the priority, the attempts and the maximum number of attempts of jobs.
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import type { Database } from "../../database/database.ts";
import { attemptCount, attemptLimit, smallint } from "../../domain/job-spec.ts";
import { moment } from "../../domain/moment.ts";
import {
  actionRecordOf,
  actOnJobs,
  actOnJobsInTurn,
  type ChangeResult,
} from "../before-images/act-on-jobs.ts";
import type { JobChange } from "../before-images/job-change.ts";
import type { ActionRecord } from "../before-images/recorded-statement.ts";
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
import type { Changes } from "../declare/job-action.ts";
import { defineJobAction, isSpent, jobActionResult } from "./define-job-action.ts";

/** The changes of rescheduleJobs(). Omitted values do not change. */
export interface JobChanges {
  /** The new time from which the job may run: a Date, RFC 3339 text with a zone, or `now` (by the database's clock). */
  readonly runAt?: Date | string | undefined;
  /**
   * Moves the `runAt` of each job by this many milliseconds, back if negative; at most a year. Cannot be combined with
   * `runAt`.
   */
  readonly shiftMs?: number | undefined;
  /**
   * Moves the new or present `runAt` of each job later, by up to this many milliseconds; at most a year. The delays of
   * many jobs are spread evenly.
   */
  readonly spreadMs?: number | undefined;
  /** The new priority: lower runs earlier. -32,768 to 32,767. */
  readonly priority?: number | undefined;
  /**
   * The new number of attempts so far, 0–32,767. If the number is below `maxAttempts`, a failed job is attempted again.
   */
  readonly attempts?: number | undefined;
  /** The new number of attempts after which the job fails for good, 1–32,767. */
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
    runAt: v.optional(v.union([v.literal("now"), moment], momentMessage())),
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
    "use either runAt or shiftMs",
  ),
);

function momentMessage(): string {
  return 'must be "now", a Date, or an RFC 3339 time with a zone, such as 2026-01-31T08:00:00Z';
}

/**
 * Applies `changes` to the jobs and returns the changed jobs, ascending by id. Jobs that were locked less than 4 hours
 * ago are skipped. Waits up to a second for fetched jobs. Throws InputError for invalid ids, and for invalid or no
 * changes.
 */
export async function rescheduleJobs(
  db: Database,
  ids: readonly string[],
  changes: JobChanges,
  record: ActionRecord | null = null,
): Promise<ChangeResult> {
  const { shiftMs, spreadMs, ...checked } = validate(changesSchema, changes);
  const change = rescheduleChange({
    ...checked,
    shift: secondsOf(shiftMs),
    spread: secondsOf(spreadMs),
  });
  return actOnJobsInTurn(db, change, ids, record);
}

const secondsOf = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1_000);

type RescheduleChanges = Omit<JobChanges, "shiftMs" | "spreadMs"> & {
  /** In seconds. */
  readonly shift?: number | undefined;
  /** In seconds. */
  readonly spread?: number | undefined;
};

/**
 * A column without a new value is set to its present value, so that an undo restores a job only if none of the four
 * columns has changed since.
 */
function rescheduleChange(to: RescheduleChanges): JobChange {
  const { runAt, shift, spread, priority, attempts, maxAttempts } = to;
  return {
    set: {
      run_at: ({ row, id, now }, parameter) => {
        const own = `${row}.run_at`;
        const timeText = (text: Date | string) =>
          `coalesce(${parameter(text, "text::timestamptz")}, ${own})`;
        const from = runAt === undefined ? own : runAt === "now" ? now : timeText(runAt);
        if (shift === undefined && spread === undefined) return from;
        const seconds = (value: number | undefined) => parameter(value ?? 0, "double precision");
        return movedRunAt(from, id, seconds(shift), seconds(spread));
      },
      priority: ({ row }, parameter) =>
        `coalesce(${parameter(priority ?? null, "smallint")}, ${row}.priority)`,
      attempts: ({ row }, parameter) =>
        `coalesce(${parameter(attempts ?? null, "smallint")}, ${row}.attempts)`,
      max_attempts: ({ row }, parameter) =>
        `coalesce(${parameter(maxAttempts ?? null, "smallint")}, ${row}.max_attempts)`,
    },
    wakes: true,
    moves: [runAt, shift, spread].some((value) => value !== undefined),
  };
}

/**
 * Returns SQL for the new time. The parameters are SQL, too; `shift` and `spread` are in seconds. The results of
 * `hashint8` are uniform over 2^32 numbers.
 */
const movedRunAt = (from: string, id: string, shift: string, spread: string): string =>
  `${from} + pg_catalog.make_interval(secs => ${shift} + ${spread}
        * ((pg_catalog.hashint8(${id})::float8 + 2147483648::float8) / 4294967296::float8))`;

/** Like rescheduleChange(), for `changes` with the field names of the HTTP API. */
export const movingBy = (changes: Changes): JobChange =>
  rescheduleChange({
    runAt: changes["run_at"] as string | undefined,
    shift: changes["shift"] as number | undefined,
    spread: changes["spread"] as number | undefined,
    priority: changes["priority"] as number | undefined,
    attempts: changes["attempts"] as number | undefined,
    maxAttempts: changes["max_attempts"] as number | undefined,
  });

export const rescheduleCommand = defineJobAction({
  name: "reschedule",
  summary: "Reschedule jobs: change their time, priority or attempts",
  title: "Reschedule jobs",
  verb: "Reschedule",
  consequence: "Only the given values are changed.",
  danger: "changes",
  fields: {
    ids: jobIds,
    run_at: optional(time(["Run at", "not before this time"])),
    shift: optional(shift(["Shift by", "seconds by which each job moves from its own time"])),
    spread: optional(
      duration([
        "Spread over",
        "seconds over which the jobs are spread, starting at the new time or at the time of each job",
      ]),
    ),
    priority: optional(priority),
    attempts: optional(attempts),
    max_attempts: optional(maxAttempts),
  },
  needsOneOf: ["run_at", "shift", "spread", "priority", "attempts", "max_attempts"],
  key: "s",
  examples: [
    "worker reschedule 42 --run-at 'in 2h'",
    "worker reschedule 'task:send_email' --priority 10",
  ],
  onJobs: {
    words: {
      past: "Rescheduled",
      ask: "Reschedule {jobs}",
      doing: "Rescheduling {jobs}",
      done: "Rescheduled {jobs}",
    },
    change: movingBy,
    canary: "none",
    offers: {
      one: { of: "all", place: 3 },
      selected: "all",
      every: { of: "all", place: 2 },
      firstFor: ["ready", "blocked"],
      hasListKey: true,
    },
  },
  problems: ({ run_at: runAt, shift }) =>
    runAt === undefined || shift === undefined
      ? []
      : [
          {
            path: "shift",
            message: "moves each job from its own time, so it cannot be combined with run_at",
          },
        ],
  run: async (db, { ids, ...changes }, { recordFor }) => {
    const change = movingBy(changes as Changes);
    const record = actionRecordOf(recordFor, "reschedule", changes);
    const result = await jobActionResult(db, ids, await actOnJobs(db, change, ids, record));
    // Jobs that have no attempts left do not run at their new time.
    const spent = change.moves === true ? result.jobs.filter(isSpent).map(({ id }) => id) : [];
    return { ...result, spent };
  },
});
