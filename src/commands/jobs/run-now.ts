// Makes jobs run as soon as a worker is free: their time becomes now. Attempts stay as they are, so a
// failed job needs attempts with it, or `retry`.
import { now } from "../../base/clock.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { microsecondsOf } from "../../domain/moment.ts";
import type { Changed } from "../before-images/act-on-jobs.ts";
import type { Keeping } from "../before-images/kept-statement.ts";
import { defineCommand, keepingOf } from "../declare/command.ts";
import { attempts, jobIds, maxAttempts, optional, priority, time } from "../declare/field.ts";
import {
  type Acted,
  acted,
  actedAnswer,
  actedMembers,
  actedSentence,
  actedTally,
  jobAction,
} from "./acted.ts";
import { type JobChanges, rescheduleJobs } from "./reschedule-jobs.ts";

/** Jobs that will have no attempts left stay as they are: a new time would not make them run. */
export async function runNow(
  db: Database,
  ids: readonly string[],
  changes: JobChanges,
  keeping: Keeping | null,
): Promise<Acted> {
  const { attempts = null, maxAttempts = null } = changes;
  const rows = await query<{ id: string }>(db, spentSql, [ids, attempts, maxAttempts]);
  const spent = new Set(rows.map(({ id }) => id));
  const others = ids.filter((id) => !spent.has(id));
  const none: Changed = { jobs: [], operationId: null };
  const changed = others.length === 0 ? none : await rescheduleJobs(db, others, changes, keeping);
  return acted(db, ids, changed, [...spent]);
}

const spentSql: Statement = (schema) => `
  select jobs.id::text
  from ${schema}._private_jobs as jobs
  where jobs.id = any($1::bigint[]) and jobs.locked_at is null
  and coalesce($2::int, jobs.attempts) >= coalesce($3::int, jobs.max_attempts)`;

export const runNowCommand = defineCommand({
  name: "run-now",
  aliases: [],
  summary: "Run jobs now: their time becomes this moment",
  title: "Run jobs now",
  verb: "Run now",
  consequence: "The jobs' time is set to now: the next free workers take them.",
  consequenceOfOne: "The job's time is set to now: the next free worker takes it.",
  weight: "light",
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
    return runNow(db, ids, named, keeping);
  },
  operationId: ({ operationId }) => operationId,
  sentence: (result, input) => actedSentence("Rescheduled to run now:", result, input),
  tally: (result, input) => actedTally(result, input),
  members: actedMembers,
});

function isAhead(runAt: string): boolean {
  return runAt !== "now" && microsecondsOf(runAt) > BigInt(now()) * 1_000n;
}
