// How long a request may take until its answer begins. When its time is over, or its client has left,
// the statement that it has under way is stopped, and whoever waits for the answer hears why there is
// none. An answer that has begun, a stream, takes as long as its reader is there. How long a request may
// wait for others, in line for a connection and behind locks, is a part of it, and bounds writes, too.

import { clearTimeout, monotonic, setTimeout } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import type { RequestScope } from "../../database/connection/pool.ts";
import type { HttpRequest } from "../../http/request.ts";

export interface RequestTime {
  readonly limitMs: number;
  readonly patienceMs: number;
}

/** For work that is finished, whoever has left: only how long it waits for others is bounded. */
export function patientAsker(patienceMs: number): RequestScope {
  const untilMs = monotonic() + patienceMs;
  return {
    signal: NEVER,
    leftMs: () => Number.POSITIVE_INFINITY,
    patienceMs: () => Math.max(0, untilMs - monotonic()),
  };
}

const NEVER = new AbortController().signal;

/** Does the work of a request in its time. */
export async function inTime<T>(
  request: HttpRequest,
  { limitMs, patienceMs: patience }: RequestTime,
  work: (scope: RequestScope) => T | Promise<T>,
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
  const leave = () => end(hasLeft);
  if (request.left.aborted) leave();
  else request.left.addEventListener("abort", leave, { once: true });
  let untilMs = monotonic() + limitMs;
  const timer = setTimeout(() => end(tooLong(limitMs)), limitMs);
  let patientUntilMs = monotonic() + patience;
  const leftMs = () => Math.max(0, untilMs - monotonic());
  const patienceMs = () => Math.max(0, patientUntilMs - monotonic());
  try {
    return await Promise.race([ended, work({ signal: over.signal, leftMs, patienceMs })]);
  } finally {
    clearTimeout(timer);
    untilMs = Number.POSITIVE_INFINITY;
    patientUntilMs = Number.POSITIVE_INFINITY;
    // What is raced against holds the answer for as long as it is open: until the answer has been read.
    reject(hasLeft);
  }
}

// One for all: every request ends with it, mostly after its answer, and a stack of its own costs more than the rest.
const hasLeft = new WorkerError("aborted", "the client has left");

function tooLong(limitMs: number): WorkerError {
  const message = `this took more than ${limitMs / 1_000} s and was stopped; ask for less, or try again`;
  return new WorkerError("timeout", message);
}
