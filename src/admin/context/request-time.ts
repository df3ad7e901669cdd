// How long requests may take, and wait for the database.
import { clearTimeout, monotonic, setTimeout } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import type { RequestScope } from "../../database/connection/pool.ts";
import type { HttpRequest } from "../../http/request.ts";

/**
 * The time limits of a request, in milliseconds. `limitMs`: the time in which its answer must begin. After it, or when
 * the client has left, the running statement is cancelled. A stream that has begun has no limit. `waitMs`: how long the
 * request may wait for a connection and for locks; it applies to writes, too.
 */
export interface RequestTime {
  readonly limitMs: number;
  readonly waitMs: number;
}

/**
 * Returns the scope of a write, which is finished even if its client has left. Only its waiting for the database is
 * limited: not the upload of its body, and not the waiting for workers.
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

/** Runs the work of a request within its time limits. */
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
  // This listener stays after the response begins: when the connection closes, the work of a stream is aborted, too.
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
  } finally {
    clearTimeout(timer);
    untilMs = Number.POSITIVE_INFINITY;
    waitUntilMs = Number.POSITIVE_INFINITY;
    // Settles `ended`: otherwise the race would keep the answer in memory until the connection closes.
    reject(hasLeft);
  }
}

// One error for all requests: each rejects `ended` with it, even after its answer, and a stack trace is expensive.
const hasLeft = new WorkerError("aborted", "the client has left");

function tooLong(limitMs: number): WorkerError {
  const message = `this took more than ${limitMs / 1_000} s and was cancelled; request less, or try again`;
  return new WorkerError("timeout", message);
}
