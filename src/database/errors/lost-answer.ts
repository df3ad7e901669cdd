// Determines whether a statement that failed in this process may have succeeded in PostgreSQL. This is possible if the
// statement was sent, and no response arrived (PostgreSQL documentation, Message Flow, Termination).
import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";
import { isOfTrigger } from "./database-errors.ts";

const unsent = new WeakSet<object>();

/** Marks an error and all its causes as errors from before the statement was sent. Returns the error. */
export function markUnsent(error: unknown): unknown {
  let one = error;
  while (typeof one === "object" && one !== null && !unsent.has(one)) {
    unsent.add(one);
    one = (one as { cause?: unknown }).cause;
  }
  return error;
}

// With 57P01 and 57P02 the server reports that it ends the session. The statement may be committed nevertheless.
const losses = new Set([
  ...["ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["08000", "08003", "08006", "57P01", "57P02"],
  // Codes of postgres.js. Its codes CONNECTION_ENDED and CONNECT_TIMEOUT are left out: with these, nothing was sent.
  ...["CONNECTION_CLOSED", "CONNECTION_DESTROYED"],
]);
/** Matches the messages of two errors of pg that have no code. */
const LOSS = /connection terminated|query read timeout/i;

/** Whether a statement that failed with `error` may have succeeded. `error`: an error of a driver, or a WorkerError. */
export function isAnswerLost(error: unknown): boolean {
  const cause = error instanceof WorkerError ? error.cause : error;
  if (typeof cause !== "object" || cause === null || unsent.has(cause)) return false;
  const code = codeOf(cause);
  if (code === undefined) return LOSS.test(messageOf(cause));
  // A trigger may lose a connection of its own, for example to the server of a foreign table. Then the statement has
  // failed.
  return losses.has(code) && !isOfTrigger(cause);
}

/**
 * Returns the error `outcome_unknown` for a statement that failed with `error`. `what`: the subject of the message,
 * such as `all of it`.
 */
export function unknownOutcome(what: string, error: unknown, advice = ""): WorkerError {
  const cause = error instanceof WorkerError ? error.cause : error;
  const message = `PostgreSQL's answer was lost (${messageOf(cause)}): ${what} may or may not have happened; check before you try again${advice}`;
  return new WorkerError("outcome_unknown", message, { cause });
}
