// How long a request may take until its answer begins. When its time is over, or its client has left,
// the statement that it has under way is stopped, and whoever waits for the answer hears why there is
// none. An answer that has begun, a stream, takes as long as its reader is there.
import { monotonic } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import type { Asker } from "../../database/connection/pool.ts";
import type { HttpRequest } from "../../http/request.ts";

/** Does the work of a request in at most `limitMs`. */
export async function inTime<T>(
  request: HttpRequest,
  limitMs: number,
  work: (asker: Asker) => T | Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // Work that throws at once leaves nobody who waits for it, and its client leaves all the same.
  ended.catch(() => {});
  const end = (reason: WorkerError) => {
    over.abort(reason);
    reject(reason);
  };
  // After the answer the connection's end is that of the request, too.
  const leave = () => end(new WorkerError("aborted", "the client has left"));
  if (request.left.aborted) leave();
  else request.left.addEventListener("abort", leave, { once: true });
  let untilMs = monotonic() + limitMs;
  const timer = setTimeout(() => end(tooLong(limitMs)), limitMs);
  const leftMs = () => Math.max(0, untilMs - monotonic());
  try {
    return await Promise.race([ended, work({ signal: over.signal, leftMs })]);
  } finally {
    clearTimeout(timer);
    untilMs = Number.POSITIVE_INFINITY;
  }
}

function tooLong(limitMs: number): WorkerError {
  const message = `this took more than ${limitMs / 1_000} s and was stopped; ask for less, or try again`;
  return new WorkerError("timeout", message);
}
