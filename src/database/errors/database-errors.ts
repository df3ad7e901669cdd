// What PostgreSQL and the network say, as sentences an operator can act on (error-sentences.ts).

import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";
import { byCode, byWording, fullLockTable, missingCharacter } from "./error-sentences.ts";

// Input that only the database could find wrong, if it is input: a statement that reads may meet the same
// in a row. GWBKM is Graphile Worker's "bad job key mode".
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

/** What was sent when an error came. */
interface Sent {
  readonly values: readonly unknown[];
  readonly text: string;
}

/** The WorkerError for anything a database call threw; an error that is one already is kept. */
export function explainDatabaseError(
  thrown: unknown,
  schema: string,
  { values, text }: Sent = { values: [], text: "" },
): WorkerError {
  const error = unwrapped(thrown);
  if (error instanceof WorkerError) return error;
  const bytes = bytesOf(values);
  if (bytes > LONGEST_MESSAGE_BYTES) {
    const message = `${(bytes / 2 ** 30).toFixed(1)} GiB are too much for one statement, PostgreSQL takes less than 1 GiB; send less at once`;
    return new WorkerError("too_large", message, { cause: error });
  }
  const detail = messageOf(error) || "no detail";
  const state = codeOf(error) ?? firstCode(error);
  if (state !== undefined) {
    // The name of the setting stands in the hint whatever its language.
    const isLockTable = state === "53200" && /max_locks_per_transaction/.test(hintOf(error));
    const known = isLockTable ? fullLockTable : byCode[state];
    if (known !== undefined) {
      return new WorkerError(known[0], known[1](detail, schema), { cause: error });
    }
    const table = ownKeyOf(state, error);
    if (table !== null) {
      const message = `${detail}: the sequence of ${table}.id gives ids that are taken; move it on as "${workerLine(schema, "worker doctor")}" shows, or with select setval(pg_get_serial_sequence('"${schema}".${table}', 'id'), (select max(id) from "${schema}".${table}))`;
      return new WorkerError("database_error", message, { cause: error });
    }
    if (inputStates.has(state) && isOfInput(error, text)) {
      const sentence = state === UNTRANSLATABLE ? missingCharacter(detail) : null;
      return new WorkerError("bad_input", sentence ?? detail, { cause: error });
    }
  }
  const worded = byWording.find(([wording]) => wording.test(detail))?.[1];
  if (worded !== undefined) {
    return new WorkerError(worded[0], worded[1](detail, schema), { cause: error });
  }
  return new WorkerError("database_error", `PostgreSQL: ${detail}`, { cause: error });
}

const WRITES = /\b(insert into|update|delete from|copy)\s/i;

// PostgreSQL names the parameter whose text is not of its type. A number in that place is in every language.
function isOfInput(error: unknown, text: string): boolean {
  if (text === "" || WRITES.test(text)) return true;
  return /\$\d+/.test(String((error as { readonly where?: unknown }).where ?? ""));
}

/** The table of the queue whose primary key has been violated: an id that a sequence gave was taken; else null. */
export function ownKeyOf(state: string | undefined, error: unknown): string | null {
  if (state !== "23505") return null;
  const { table = "", constraint = "" } = error as { table?: string; constraint?: string };
  return GIVES_IDS.test(table) && /_pkey\d*$/.test(constraint) ? table : null;
}

const GIVES_IDS = /^_private_(jobs|job_queues|tasks|operations|audit)$/;

/**
 * Whether the database refused what it was given, now and always: data exceptions, violated
 * constraints, what a trigger raises.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof WorkerError)) return false;
  if (error.code === "bad_input" || error.code === "too_large") return true;
  return error.code === "database_error" && /^(22|23|P0)/.test(codeOf(error.cause) ?? "");
}

/** States of the server or of other sessions: the same statement may go through later. */
const PASSING = /^(08|25|26|40|53|55|57|58|XX)/;

/**
 * Whether PostgreSQL refuses a row for what it is: it violates a constraint, or a trigger has failed.
 * A missing table or right is refused in a trigger only; in a statement of ours it is an outage.
 */
export function isRefusedResult(error: unknown): boolean {
  if (isRefusal(error)) return true;
  const { cause } = error as { cause?: { where?: unknown } };
  const isInTrigger = typeof cause?.where === "string" && cause.where !== "";
  return isInTrigger && !PASSING.test(codeOf(cause) ?? "XX");
}

/** Query builders wrap the error of their driver, without its code. */
function unwrapped(error: unknown): unknown {
  const { cause } = Object(error) as { cause?: unknown };
  const isWrapper = codeOf(error) === undefined && cause !== undefined;
  return isWrapper && (cause instanceof WorkerError || codeOf(cause) !== undefined) ? cause : error;
}

function hintOf(error: unknown): string {
  const { hint } = error as { readonly hint?: unknown };
  return typeof hint === "string" ? hint : "";
}

/** Node reports a host with several addresses as an AggregateError without a code of its own. */
function firstCode(error: unknown): string | undefined {
  return error instanceof AggregateError ? codeOf(error.errors[0]) : undefined;
}

// Without a word PostgreSQL closes the connection on which a longer message comes.
const LONGEST_MESSAGE_BYTES = 2 ** 30 - 2;

/** About the length of a statement's values in the message; 0 for what is surely short enough. */
function bytesOf(values: readonly unknown[]): number {
  const texts = values.flat().filter((value) => typeof value === "string");
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters * 3 < LONGEST_MESSAGE_BYTES) return 0;
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
