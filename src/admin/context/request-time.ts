// Limits how long a read may take until its answer begins, and how long the statements of reads and writes may wait
// for free database connections and for locks.
import { clearTimeout, monotonic, setTimeout } from "../../base/clock.ts";
import { codeOf, WorkerError } from "../../base/errors.ts";
import type { RequestScope } from "../../database/connection/pool.ts";
import type { HttpRequest } from "../../http/request.ts";

/**
 * The time limits of a read (any request but a write), in milliseconds from the start of the read. `limitMs`: the time
 * within which the answer must begin. `waitMs`: the time within which statements may wait for connections and locks.
 */
export interface RequestTime {
  readonly limitMs: number;
  readonly waitMs: number;
}

/**
 * Returns the scope of a write. The write is finished even if its client has left. Each wait for a connection or a lock
 * lasts at most `waitMs`, less the duration of the write's earlier queries and transactions.
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

/** A tolerance: PostgreSQL may end the last statement of a read slightly before the read's own timer. */
const CLOSE_MS = 5;

/**
 * Runs the work of a read. Rejects with `timeout` after `limitMs`, and with `aborted` when the client leaves. In both
 * cases the running statement is cancelled.
 */
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
  // must be cancelled, too.
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
    if (leftMs() < CLOSE_MS && codeOf(error) === "database_timeout") throw tooLong(limitMs);
    throw error;
  } finally {
    clearTimeout(timer);
    untilMs = Number.POSITIVE_INFINITY;
    waitUntilMs = Number.POSITIVE_INFINITY;
    // Without this, `ended` would keep the answer in memory until the client's connection closes.
    reject(hasLeft);
  }
}

// All reads share this error, because a new error with a stack trace is expensive.
const hasLeft = new WorkerError("aborted", "the client has left");

function tooLong(limitMs: number): WorkerError {
  const message = `this took more than ${limitMs / 1_000} s and was cancelled; request less, or try again`;
  return new WorkerError("timeout", message);
}
