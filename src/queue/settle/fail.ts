// Records that attempts failed. When the job is tried again is retry-policy.ts.
import { codeOf } from "../../base/errors.ts";
import { type Database, idArray, parseIdArray, query } from "../../database/database.ts";
import { UNLOCK } from "../sql/lock.ts";
import { attemptsMade, isOurs, type LockMode, type LostIds, lostIds } from "./fence.ts";
import { retryAt } from "./retry-policy.ts";

/** A job whose attempt failed. */
export interface FailedAttempt {
  readonly id: string;
  readonly message: string;
  /** JSON text that replaces the payload: what is left of a batch. null keeps it. */
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
 * Records failures of jobs that the worker has by `mode`. Their named queues stay locked: more of a
 * queue's run may follow. Gives the ids that were no longer ours.
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
      // Not null: under array_nulls = off that would be a text.
      failures.map(({ payload }) => payload ?? ""),
      ...(mode === "locked_by" ? [workerId] : []),
    ]);
    return parseIdArray(row?.lost);
  } catch (error) {
    // Not again at once: it may have been part of a transaction, which PostgreSQL has undone.
    if (codeOf((error as Error).cause) === UNTRANSLATABLE) inAscii.add(db);
    throw error;
  }
}

/** The database's encoding, LATIN1 say, has no such character. */
const UNTRANSLATABLE = "22P05";

/** Where errors are written in ASCII, because one could not be written otherwise. */
const inAscii = new WeakSet<Database>();

function asciiOf(message: string): string {
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return storable(message).replace(/[^\0-\x7f]/g, escaped);
}

const LONGEST_ERROR_CHARACTERS = 65_536;

/** PostgreSQL text holds no NUL and no lone surrogates, and an endless error helps nobody. */
function storable(message: string): string {
  return message.slice(0, LONGEST_ERROR_CHARACTERS).replaceAll("\0", "").toWellFormed();
}
