// How long a request may take. When its time is over, or its client has left, the statement that it has
// under way is stopped, and whoever waits for the answer hears why there is none.
import { monotonic } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import type { Asker } from "../../database/connection/pool.ts";
import type { HttpRequest } from "../../http/request.ts";

/**
 * Does the work of a request in at most `limitMs`. With null it may take any time, while its client is
 * there: the statements of a stream end with the asker, and the stream itself sees to the rest.
 */
export async function inTime<T>(
  request: HttpRequest,
  limitMs: number | null,
  work: (asker: Asker) => T | Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const leave = () => over.abort(new WorkerError("aborted", "the client has left"));
  if (request.left.aborted) leave();
  else request.left.addEventListener("abort", leave, { once: true });
  if (limitMs === null) {
    return work({ signal: over.signal, leftMs: () => Number.POSITIVE_INFINITY });
  }
  const until = monotonic() + limitMs;
  const timer = setTimeout(() => over.abort(tooLong(limitMs)), limitMs);
  const { promise: ended, reject } = Promise.withResolvers<never>();
  over.signal.addEventListener("abort", () => reject(over.signal.reason), { once: true });
  try {
    const asker = { signal: over.signal, leftMs: () => Math.max(0, until - monotonic()) };
    return await Promise.race([work(asker), ended]);
  } finally {
    clearTimeout(timer);
    request.left.removeEventListener("abort", leave);
  }
}

function tooLong(limitMs: number): WorkerError {
  const message = `this took more than ${limitMs / 1_000} s and was stopped; ask for less, or try again`;
  return new WorkerError("timeout", message);
}
