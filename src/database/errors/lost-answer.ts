// Whether what failed may have happened all the same: the statement had gone out, and the connection was
// lost before PostgreSQL's answer came. (PostgreSQL documentation, Message Flow, Termination: a query that is
// outside any transaction block may be committed before the disconnection is noticed.)
import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";

const unsent = new WeakSet<object>();

/** Marks an error after which surely nothing was sent: there was no connection to be had. Gives it back. */
export function markUnsent(error: unknown): unknown {
  if (typeof error === "object" && error !== null) unsent.add(error);
  return error;
}

// Also of a backend that is told to end: it may have been waiting for a standby, its commit done.
const losses = new Set([
  ...["ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["08000", "08003", "08006", "57P01", "57P02"],
]);
/** As pg words it, without a code. */
const LOSS = /connection terminated|query read timeout/i;

/** Of a statement's error, explained or not. */
export function isAnswerLost(error: unknown): boolean {
  const cause = error instanceof WorkerError ? error.cause : error;
  if (typeof cause !== "object" || cause === null || unsent.has(cause)) return false;
  const code = codeOf(cause);
  return code === undefined ? LOSS.test(messageOf(cause)) : losses.has(code);
}
