// Determines whether a failed statement may have succeeded. It may if it had been sent, and PostgreSQL's response had
// not arrived when the connection was lost or a time limit passed. (PostgreSQL documentation, Message Flow,
// Termination: a query that is outside any transaction block may be committed before the disconnection is noticed.)
import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";
import { isOfTrigger } from "./database-errors.ts";

const unsent = new WeakSet<object>();

/** Marks an error that occurred before its statement was sent, and the error's causes. Returns the error. */
export function markUnsent(error: unknown): unknown {
  let one = error;
  while (typeof one === "object" && one !== null && !unsent.has(one)) {
    unsent.add(one);
    one = (one as { cause?: unknown }).cause;
  }
  return error;
}

// 57P01 and 57P02 are included: the server has ended the session, which may have waited for a standby after its commit.
const losses = new Set([
  ...["ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["08000", "08003", "08006", "57P01", "57P02"],
  // These are codes of postgres.js. Its CONNECTION_ENDED and CONNECT_TIMEOUT mean that nothing was sent.
  ...["CONNECTION_CLOSED", "CONNECTION_DESTROYED"],
]);
/** The wording of pg's errors without a code, for a lost connection or a response that did not come in time. */
const LOSS = /connection terminated|query read timeout/i;

/** Whether a statement may have succeeded that failed with this error. `error`: of a driver, or a WorkerError. */
export function isAnswerLost(error: unknown): boolean {
  const cause = error instanceof WorkerError ? error.cause : error;
  if (typeof cause !== "object" || cause === null || unsent.has(cause)) return false;
  const code = codeOf(cause);
  if (code === undefined) return LOSS.test(messageOf(cause));
  // If a trigger has lost a connection of its own, such as that of a foreign table, PostgreSQL has answered: the
  // statement has failed.
  return losses.has(code) && !isOfTrigger(cause);
}

/** Returns the error `outcome_unknown`. `what`: the work in words. `error`: the error of the unanswered statement. */
export function unknownOutcome(what: string, error: unknown, advice = ""): WorkerError {
  const cause = error instanceof WorkerError ? error.cause : error;
  const message = `PostgreSQL's answer was lost (${messageOf(cause)}): ${what} may or may not have happened; check before you try again${advice}`;
  return new WorkerError("outcome_unknown", message, { cause });
}
