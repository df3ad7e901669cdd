// Turns database errors into WorkerErrors with advice. Finds the cause of an error, such as a trigger.

import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";
import { byCode, byWording, fullLockTable, missingCharacter } from "./error-sentences.ts";

// SQLSTATEs of invalid values. If isOfInput() is false, the invalid value may be in a stored row, and the error becomes
// `database_error`. GWBKM is Graphile Worker's "bad job key mode".
const inputStates = new Set([
  "22P02",
  "22P05",
  "22003",
  "22007",
  "22008",
  "22021",
  "22023",
  "23514",
  "GWBKM",
]);

const UNTRANSLATABLE = "22P05";

interface SentStatement {
  readonly values: readonly unknown[];
  readonly text: string;
}

/** Returns a WorkerError for the error that a database call threw. A WorkerError is returned as it is. */
export function explainDatabaseError(
  thrown: unknown,
  schema: string,
  { values, text }: SentStatement = { values: [], text: "" },
): WorkerError {
  const error = unwrap(thrown);
  if (error instanceof WorkerError) return error;
  const bytes = bytesOf(values);
  if (bytes > MAX_MESSAGE_BYTES) {
    const message = `${(bytes / 2 ** 30).toFixed(1)} GiB are too much for one statement; PostgreSQL accepts less than 1 GiB, so split the data`;
    return new WorkerError("too_large", message, { cause: error });
  }
  const detail = messageOf(error) || "no detail";
  const state = codeOf(error) ?? firstCode(error);
  if (state !== undefined) {
    // The hint contains the setting's name in every language.
    const isLockTable = state === "53200" && /max_locks_per_transaction/.test(hintOf(error));
    const entry = isLockTable ? fullLockTable : byCode[state];
    if (entry !== undefined && isOfTrigger(error)) {
      const [line] = placeOf(error).split("\n");
      return new WorkerError("database_error", `PostgreSQL: ${detail} (${line})`, { cause: error });
    }
    if (entry !== undefined) {
      return new WorkerError(entry[0], entry[1](detail, schema), { cause: error });
    }
    const table = ownKeyOf(state, error);
    if (table !== null) {
      const message = `${detail}: the sequence of ${table}.id gives ids that already exist; advance it as "${workerLine(schema, "worker doctor")}" shows, or with select setval(pg_get_serial_sequence('"${schema}".${table}', 'id'), (select max(id) from "${schema}".${table}))`;
      return new WorkerError("database_error", message, { cause: error });
    }
    if (inputStates.has(state) && isOfInput(error, text)) {
      const sentence = state === UNTRANSLATABLE ? missingCharacter(detail) : null;
      return new WorkerError("bad_input", sentence ?? detail, { cause: error });
    }
  }
  const worded = sentenceOf(detail);
  if (worded !== undefined) {
    return new WorkerError(worded[0], worded[1](detail, schema), { cause: error });
  }
  return new WorkerError("database_error", `PostgreSQL: ${detail}`, { cause: error });
}

const WRITES = /\b(insert into|update|delete from|copy)\s/i;

// If a parameter is invalid, the context of the error contains the parameter's number, such as $1, in every language.
function isOfInput(error: unknown, text: string): boolean {
  if (text === "" || WRITES.test(text)) return true;
  return /\$\d+/.test(placeOf(error));
}

/** If a table's sequence gave an id that already exists, returns the table's name; null for every other error. */
export function ownKeyOf(state: string | undefined, error: unknown): string | null {
  if (state !== "23505") return null;
  const { table = "", constraint = "" } = error as { table?: string; constraint?: string };
  return TABLES_WITH_IDS.includes(table) && /_pkey\d*$/.test(constraint) ? table : null;
}

/** The tables with ids from a sequence. */
export const TABLES_WITH_IDS: readonly string[] = [
  ...["_private_jobs", "_private_job_queues", "_private_tasks"],
  ...["_private_operations", "_private_audit", "_private_limits"],
];

/** Whether PostgreSQL would refuse the same values again. An error that PL/pgSQL code raised (P0) counts, too. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof WorkerError)) return false;
  if (error.code === "bad_input" || error.code === "too_large") return true;
  return error.code === "database_error" && /^(22|23|P0)/.test(codeOf(error.cause) ?? "");
}

/** SQLSTATEs of conflicts with other sessions. A trigger may raise one of them so that the statement is sent again. */
const BUSY = /^(40|55P03)/;

/** SQLSTATEs of temporary errors: a lack of resources (53), or a cancelled statement or session (57). */
const PASSING = /^(53|57)/;

// The member `routine` of an error is the name of PostgreSQL's C function that raised the error.
/** Executes RAISE of PL/pgSQL. */
const RAISES = "exec_stmt_raise";
/** Checks row level security policies. The error has the same SQLSTATE as the error of a missing privilege. */
const CHECKS_POLICY = "ExecWithCheckOptions";

/** Whether PostgreSQL refuses a row for its content. Errors of triggers and of row security policies count, too. */
export function isRefusedResult(error: unknown): boolean {
  const { cause } = error as { cause?: { routine?: unknown } };
  if (isRefusal(error) || isOfTrigger(cause)) return true;
  return codeOf(cause) === "42501" && cause?.routine === CHECKS_POLICY;
}

/**
 * Whether an error of PostgreSQL comes from a trigger. Conflicts (BUSY) do not count. Temporary errors (PASSING) count
 * only if RAISE raised them.
 */
export function isOfTrigger(error: unknown): boolean {
  const { where, routine } = Object(error) as { where?: unknown; routine?: unknown };
  const state = codeOf(error);
  if (state === undefined || BUSY.test(state) || !isInTrigger(where)) return false;
  return routine === RAISES || !PASSING.test(state);
}

/** Whether the error is `database_busy`: the same statement may succeed later. */
export const isBusy = (error: unknown): boolean => codeOf(error) === "database_busy";

/** Whether a statement was cancelled in a trigger. A statement for fewer rows may succeed. */
export function isSlowTrigger(error: unknown): boolean {
  const { cause } = error as { cause?: { where?: unknown; routine?: unknown } };
  const isTimeout = codeOf(cause) === "57014" && cause?.routine !== RAISES;
  return isTimeout && isInTrigger(cause?.where);
}

/**
 * Whether the context of an error has a line about a function. Other lines are recognized in every language: a line
 * about a wait for a row contains the row's place, such as (0,12), a line about a COPY contains the table's name, and a
 * line that lists all parameters contains `$1 = `.
 */
function isInTrigger(where: unknown): boolean {
  if (typeof where !== "string") return false;
  const [ofFunctions = ""] = where.split(/^.*\$1 = (?:NULL|')/m);
  return ofFunctions
    .split("\n")
    .some((line) => line !== "" && !/\(\d+,\d+\)|_private_jobs\b/.test(line));
}

/**
 * Query builders may wrap an error of the database in an error without a code. Returns the wrapped error if this file
 * recognizes it.
 */
function unwrap(error: unknown): unknown {
  const { cause } = Object(error) as { cause?: unknown };
  if (codeOf(error) !== undefined || cause === undefined) return error;
  const isKnown = cause instanceof WorkerError || codeOf(cause) !== undefined;
  return isKnown || sentenceOf(messageOf(cause)) !== undefined ? cause : error;
}

const sentenceOf = (detail: string) => byWording.find(([wording]) => wording.test(detail))?.[1];

function placeOf(error: unknown): string {
  return String((error as { readonly where?: unknown }).where ?? "");
}

function hintOf(error: unknown): string {
  const { hint } = error as { readonly hint?: unknown };
  return typeof hint === "string" ? hint : "";
}

/** Returns the code of the first error in an AggregateError, which may have no code itself. */
function firstCode(error: unknown): string | undefined {
  return error instanceof AggregateError ? codeOf(error.errors[0]) : undefined;
}

// After a longer message, PostgreSQL closes the connection without an error.
const MAX_MESSAGE_BYTES = 2 ** 30 - 2;

/** Returns the number of bytes of the texts in `values`; 0 if the number is certainly below MAX_MESSAGE_BYTES. */
function bytesOf(values: readonly unknown[]): number {
  const texts = values.flat().filter((value) => typeof value === "string");
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters * 3 < MAX_MESSAGE_BYTES) return 0;
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
