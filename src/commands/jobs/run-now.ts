// Sets the time of jobs to now, so that they run as soon as a worker is free. By default their attempts do not change.
// So a failed job also needs the field `attempts` or `max_attempts`, or the command `retry` instead of this one.
import { now } from "../../base/clock.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { microsecondsOf } from "../../domain/moment.ts";
import { actionRecordOf, actOnJobs, type ChangeResult } from "../before-images/act-on-jobs.ts";
import type { ActionRecord } from "../before-images/recorded-statement.ts";
import { attempts, jobIds, maxAttempts, optional, priority, time } from "../declare/field.ts";
import type { Changes } from "../declare/job-action.ts";
import { defineJobAction, type JobActionResult, jobActionResult } from "./define-job-action.ts";
import { movingBy } from "./reschedule-jobs.ts";

/** Makes the changes, and sets the time to now. Jobs that would have no attempts left are skipped: they cannot run. */
export async function runNow(
  db: Database,
  ids: readonly string[],
  changes: Changes,
  record: ActionRecord | null,
): Promise<JobActionResult> {
  const { attempts = null, max_attempts: maxAttempts = null } = changes;
  const rows = await query<{ id: string }>(db, spentSql, [ids, attempts, maxAttempts]);
  const spent = new Set(rows.map(({ id }) => id));
  const others = ids.filter((id) => !spent.has(id));
  const none: ChangeResult = { jobs: [], operationId: null };
  const changed =
    others.length === 0 ? none : await actOnJobs(db, runningNow(changes), others, record);
  return jobActionResult(db, ids, changed, [...spent]);
}

const runningNow = (changes: Changes) => movingBy({ ...changes, run_at: "now" });

const spentSql: Statement = (schema) => `
  select jobs.id::text
  from ${schema}._private_jobs as jobs
  where jobs.id = any($1::bigint[]) and jobs.locked_at is null
  and coalesce($2::int, jobs.attempts) >= coalesce($3::int, jobs.max_attempts)`;

export const runNowCommand = defineJobAction({
  name: "run-now",
  summary: "Run jobs now: set their time to this moment",
  title: "Run jobs now",
  verb: "Run now",
  consequence: "The jobs' time is set to now: they run as soon as workers are free.",
  consequenceOfOne: "The job's time is set to now: it runs as soon as a worker is free.",
  danger: "changes",
  fields: {
    ids: jobIds,
    // Accepted for programs that fill in every field, and so send the present time here.
    run_at: optional(time(["Run at", "not needed: it is always now"]), { isHidden: true }),
    priority: optional(priority),
    attempts: optional(attempts),
    max_attempts: optional(maxAttempts),
  },
  dialogFields: [],
  key: "r",
  examples: ["worker run-now 42 43"],
  onJobs: {
    words: {
      past: "Rescheduled to run now:",
      ask: "Run {jobs} now",
      doing: "Setting {jobs} to run now",
      done: "Set {jobs} to run now",
    },
    change: runningNow,
    canary: "possible",
    offers: {
      one: { of: "all", place: 2 },
      selected: "not failed",
      every: { of: "not failed", place: 1 },
      firstFor: ["retrying", "scheduled"],
    },
  },
  problems: ({ run_at: runAt }) =>
    runAt === undefined || !isAhead(runAt)
      ? []
      : [
          {
            path: "run_at",
            message: "is in the future: run-now runs jobs at once; use reschedule",
          },
        ],
  run: async (db, { ids, run_at: _, ...changes }, { recordFor }) => {
    const record = actionRecordOf(recordFor, "run-now", changes);
    return runNow(db, ids, changes as Changes, record);
  },
});

/** How far the clock of the program that sends `run_at` may be ahead of this process's, in milliseconds. */
const MAX_AHEAD_MS = 60_000;

function isAhead(runAt: string): boolean {
  return runAt !== "now" && microsecondsOf(runAt) > BigInt(now() + MAX_AHEAD_MS) * 1_000n;
}
