// Records failed attempts, and passes snoozed attempts to snooze.ts.
import { codeOf } from "../../base/errors.ts";
import {
  type Database,
  idArray,
  parseIdArray,
  query,
  type Statement,
} from "../../database/database.ts";
import { UNLOCK } from "../sql/lock.ts";
import { attemptsMade, isOurs, type LockMode, type LostIds, lostIds } from "./fence.ts";
import { delayOf, endOfAttempts, retryAt } from "./retry-policy.ts";
import { type SnoozedJob, snoozeJobs } from "./snooze.ts";

/**
 * What happens after an attempt that has not succeeded. `retry`: if attempts are left, the next attempt follows after
 * `delayMs`, or if `delayMs` is null, after Graphile Worker's delay. `never`: no attempt follows, and `max_attempts`
 * becomes the number of attempts made. `snooze`: the attempt does not count, and another attempt follows after
 * `delayMs`.
 */
export type NextAttempt =
  | { readonly kind: "retry"; readonly delayMs: number | null }
  | { readonly kind: "never" }
  | { readonly kind: "snooze"; readonly delayMs: number };

/** A retry after the delay of Graphile Worker's formula. */
export const BY_FORMULA: NextAttempt = { kind: "retry", delayMs: null };

export interface FailedAttempt extends Omit<SnoozedJob, "delayMs"> {
  readonly message: string;
  readonly next: NextAttempt;
}

const BY_FORMULA_MS = -1;
const NEVER_MS = -2;

const failSql = (mode: LockMode) => (s: string) => {
  const attempts = attemptsMade(mode, "j");
  const delay = `case when f.delay_ms >= 0::float8 then f.delay_ms * interval '1 millisecond' else ${delayOf(attempts)} end`;
  return `
with failed as (
  update ${s}._private_jobs j
  set last_error = f.message,
    payload = coalesce(nullif(f.payload, ''::text)::json, j.payload),
    attempts = ${attempts},
    max_attempts = case when f.delay_ms = '${NEVER_MS}'::float8 then greatest(1, ${attempts}) else j.max_attempts end,
    run_at = ${retryAt("j", endOfAttempts(mode), delay)},
    updated_at = ${endOfAttempts(mode)},
    ${UNLOCK}
  from unnest($1::bigint[], $2::text[], $3::text[], $4::float8[]) as f (id, message, payload, delay_ms)
  where j.id = f.id and ${isOurs(mode, "j", "$5")}
  returning j.id
)
select ${lostIds({ schema: s, mode, ids: "$1", workerId: "$5", by: "failed" })}`;
};

const statements = { locked_by: failSql("locked_by"), row: failSql("row") };

/**
 * Records failures or snoozes; one call must not have both. The named queues of the jobs stay locked, because more jobs
 * of the same run of a queue may follow. Returns the ids of jobs whose lock the worker had lost.
 */
export async function failJobs(
  db: Database,
  workerId: string,
  failures: readonly FailedAttempt[],
  mode: LockMode,
): Promise<string[]> {
  const snoozes = failures.flatMap(({ next, ...job }) =>
    next.kind === "snooze" ? [{ ...job, delayMs: next.delayMs }] : [],
  );
  if (snoozes.length > 0) return snoozeJobs(db, workerId, snoozes, mode);
  const textOf = inAscii.has(db) ? asciiOf : storable;
  try {
    const [row] = await query<LostIds>(db, statements[mode], [
      idArray(failures.map(({ id }) => id)),
      failures.map(({ message }) => textOf(message)),
      // "" is sent instead of null: if array_nulls is off, PostgreSQL reads a null in an array as the text "null".
      failures.map(({ payload }) => payload ?? ""),
      failures.map(({ next }) => delayMsOf(next)),
      ...(mode === "locked_by" ? [workerId] : []),
    ]);
    return parseIdArray(row?.lost);
  } catch (error) {
    // The statement is not repeated in ASCII here, because the error may have aborted the transaction.
    if (codeOf((error as Error).cause) === UNTRANSLATABLE) inAscii.add(db);
    throw error;
  }
}

const laterAttemptsSql: Statement = (s) => `
select j.id::text from ${s}._private_jobs j
join unnest($1::bigint[], $2::int[]) as ended (id, attempts) on ended.id = j.id
where j.attempts > ended.attempts and ${isOurs("locked_by", "j", "$3")}`;

/** Returns those jobs of the `ended` attempts that this worker has locked again for a later attempt. */
export async function readLaterAttempts(
  db: Database,
  workerId: string,
  ended: readonly { readonly id: string; readonly attempts: number }[],
): Promise<{ readonly id: string }[]> {
  const values = [idArray(ended.map(({ id }) => id)), ended.map(({ attempts }) => attempts)];
  return query(db, laterAttemptsSql, [...values, workerId]);
}

function delayMsOf(next: NextAttempt): number {
  if (next.kind === "never") return NEVER_MS;
  // In whole milliseconds, so that insight/expressions/failed-at.ts can compute from the row when the job failed.
  return Math.round(next.delayMs ?? BY_FORMULA_MS);
}

/** PostgreSQL's error code for a character that the database's encoding cannot represent. */
const UNTRANSLATABLE = "22P05";

/** The databases whose encoding could not represent an error message. */
const inAscii = new WeakSet<Database>();

function asciiOf(message: string): string {
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return storable(message).replace(/[^\0-\x7f]/g, escaped);
}

const MAX_ERROR_CHARACTERS = 65_536;

/** Returns the start of the message, without characters that PostgreSQL cannot store. */
function storable(message: string): string {
  return message.slice(0, MAX_ERROR_CHARACTERS).replaceAll("\0", "").toWellFormed();
}
