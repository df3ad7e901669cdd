// Limits how long a read may take until its answer begins, and how long the statements of reads and writes may wait
// for connections and locks.
import { clearTimeout, monotonic, setTimeout } from "../../base/clock.ts";
import { codeOf, WorkerError } from "../../base/errors.ts";
import type { RequestScope } from "../../database/connection/pool.ts";
import type { HttpRequest } from "../../http/request.ts";

/**
 * The time limits of a read (any request but a write), in milliseconds from its start. `limitMs`: the time within
 * which its answer must begin. When this time is over, or the client has left, the running statement is cancelled.
 * `waitMs`: the time within which its statements may wait for connections and locks. If the answer is a stream,
 * neither limit applies after the stream has begun.
 */
export interface RequestTime {
  readonly limitMs: number;
  readonly waitMs: number;
}

/**
 * Returns the scope of a write. The write is finished even if its client has left. A query or transaction may wait for
 * a connection or a lock for at most `waitMs`, less the duration of the write's earlier queries and transactions. The
 * time in which the request's body is uploaded does not count.
 */
export function writeScope(waitMs: number): RequestScope {
  let leftMs = waitMs;
  return {
    signal: NEVER,
    leftMs: () => Number.POSITIVE_INFINITY,
    waitLeftMs: () => leftMs,
    waited: (ms) => {
      leftMs = Math.max(0, leftMs - ms);
    },
  };
}

const NEVER = new AbortController().signal;

/** PostgreSQL counts whole milliseconds, so it can end a statement slightly before the request's time is over. */
const CLOSE_MS = 5;

/** Runs the work of a read. Rejects with `timeout` after `limitMs`, and with `aborted` when the client leaves. */
export async function inTime<T>(
  request: HttpRequest,
  { limitMs, waitMs }: RequestTime,
  work: (scope: RequestScope) => T | Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // If `work` throws synchronously, this promise is never awaited, and its rejection must not count as unhandled.
  ended.catch(() => {});
  const end = (reason: WorkerError) => {
    over.abort(reason);
    reject(reason);
  };
  // This listener stays after this function has returned: if the client leaves during a stream, the stream's statements
  // must be aborted, too.
  const leave = () => end(hasLeft);
  if (request.left.aborted) leave();
  else request.left.addEventListener("abort", leave, { once: true });
  let untilMs = monotonic() + limitMs;
  const timer = setTimeout(() => end(tooLong(limitMs)), limitMs);
  let waitUntilMs = monotonic() + waitMs;
  const leftMs = () => Math.max(0, untilMs - monotonic());
  const waitLeftMs = () => Math.max(0, waitUntilMs - monotonic());
  try {
    return await Promise.race([ended, work({ signal: over.signal, leftMs, waitLeftMs })]);
  } catch (error) {
    // The last statement gets the rest of this time as its own limit, so PostgreSQL may end it just before the timer.
    if (leftMs() < CLOSE_MS && codeOf(error) === "database_timeout") throw tooLong(limitMs);
    throw error;
  } finally {
    clearTimeout(timer);
    untilMs = Number.POSITIVE_INFINITY;
    waitUntilMs = Number.POSITIVE_INFINITY;
    // Settles `ended`: otherwise the race would keep the answer in memory until the connection closes.
    reject(hasLeft);
  }
}

// All requests share this error: every request rejects `ended` with it at its end, and a new error with a stack trace
// is expensive.
const hasLeft = new WorkerError("aborted", "the client has left");

function tooLong(limitMs: number): WorkerError {
  const message = `this took more than ${limitMs / 1_000} s and was cancelled; request less, or try again`;
  return new WorkerError("timeout", message);
}
