// Records failed attempts. retry-policy.ts determines when the job is retried.
import { codeOf } from "../../base/errors.ts";
import { type Database, idArray, parseIdArray, query } from "../../database/database.ts";
import { UNLOCK } from "../sql/lock.ts";
import { attemptsMade, isOurs, type LockMode, type LostIds, lostIds } from "./fence.ts";
import { retryAt } from "./retry-policy.ts";

export interface FailedAttempt {
  readonly id: string;
  readonly message: string;
  /** JSON text that replaces the payload: the rest of a batch. null keeps the payload. */
  readonly payload: string | null;
}

const failSql = (mode: LockMode) => (s: string) =>
  `
with failed as (
  update ${s}._private_jobs j
  set last_error = f.message,
    payload = coalesce(nullif(f.payload, ''::text)::json, j.payload),
    attempts = ${attemptsMade(mode, "j")},
    run_at = ${retryAt("j", attemptsMade(mode, "j"))},
    updated_at = pg_catalog.now(),
    ${UNLOCK}
  from unnest($1::bigint[], $2::text[], $3::text[]) as f (id, message, payload)
  where j.id = f.id and ${isOurs(mode, "j", "$4")}
  returning j.id
)
select ${lostIds({ schema: s, mode, ids: "$1", workerId: "$4", by: "failed" })}`;

const statements = { locked_by: failSql("locked_by"), row: failSql("row") };

/**
 * Records failures of jobs that the worker has locked by `mode`. Their named queues stay locked, because
 * the rest of the queue's run may follow. Returns the ids whose lock the worker had lost.
 */
export async function failJobs(
  db: Database,
  workerId: string,
  failures: readonly FailedAttempt[],
  mode: LockMode,
): Promise<string[]> {
  const textOf = inAscii.has(db) ? asciiOf : storable;
  try {
    const [row] = await query<LostIds>(db, statements[mode], [
      idArray(failures.map(({ id }) => id)),
      failures.map(({ message }) => textOf(message)),
      // Not null: with array_nulls = off it would be the text "null".
      failures.map(({ payload }) => payload ?? ""),
      ...(mode === "locked_by" ? [workerId] : []),
    ]);
    return parseIdArray(row?.lost);
  } catch (error) {
    // Not repeated here: it may have been part of a transaction, which PostgreSQL has undone.
    if (codeOf((error as Error).cause) === UNTRANSLATABLE) inAscii.add(db);
    throw error;
  }
}

/** The database's encoding, such as LATIN1, cannot represent the character. */
const UNTRANSLATABLE = "22P05";

/** Databases in which errors are written in ASCII, after one could not be written. */
const inAscii = new WeakSet<Database>();

function asciiOf(message: string): string {
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return storable(message).replace(/[^\0-\x7f]/g, escaped);
}

const LONGEST_ERROR_CHARACTERS = 65_536;

/** PostgreSQL text cannot store NUL or lone surrogates, and the length is limited. */
function storable(message: string): string {
  return message.slice(0, LONGEST_ERROR_CHARACTERS).replaceAll("\0", "").toWellFormed();
}
