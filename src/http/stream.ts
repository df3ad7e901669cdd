// Sends downloads: responses whose body is produced during the transfer. The next piece of a body is requested only
// after the connection has accepted the previous piece, so that pieces do not fill the memory. If the body fails or
// stalls, the connection is cut off, so that an incomplete response never looks complete.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { clearTimeout, setTimeout, timeoutSignal, wait } from "../base/clock.ts";
import { WorkerError } from "../base/errors.ts";
import { networkOf } from "./bounds/client-address.ts";
import type { Work } from "./bounds/work.ts";
import { UNIX_PEER } from "./listen/listen-target.ts";
import { Refusal, stopping } from "./refusal.ts";
import type { HttpRequest } from "./request.ts";
import { cutOff, type HttpResponse } from "./response.ts";

type Piece = string | Uint8Array;

export interface StreamedAnswer {
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Returns the pieces of the body: text or bytes of limited size. An empty piece writes nothing, but ends the waits of
   * `beginMs` and `stillMs`. `signal` aborts when no more pieces are needed.
   */
  readonly pieces: (signal: AbortSignal) => AsyncIterator<Piece>;
  /**
   * Called right before the response begins. If onBegin() rejects, the error becomes the response. Not called for HEAD.
   */
  readonly onBegin?: () => Promise<void>;
  /** Called after the last piece. */
  readonly trailers?: () => Readonly<Record<string, string>>;
  /** Called with the error if the body fails or stalls after the response has begun, unless `signal` has aborted. */
  readonly onBroken: (error: unknown) => void;
}

export interface StreamLimits {
  /**
   * The longest wait for the first piece before the response begins, in milliseconds. If the body fails during this
   * wait, the error becomes the response.
   */
  readonly beginMs: number;
  /** The time in milliseconds after which a body that produces no further piece is cut off. */
  readonly stillMs: number;
  /** The time in milliseconds after which a connection that has not accepted a piece is cut off. */
  readonly stalledMs: number;
}

const usual: StreamLimits = { beginMs: 1_000, stillMs: 60_000, stalledMs: 60_000 };

/**
 * Returns a response with the headers and the pieces that `prepare` returns. The response takes one of `places` until
 * it ends. Throws a Refusal if no place is free, if the server is stopping, or if an incomplete response would look
 * complete to the client.
 */
export async function streamResponse(
  request: HttpRequest,
  places: Work,
  prepare: () => Promise<StreamedAnswer>,
  limits: StreamLimits = usual,
): Promise<HttpResponse> {
  if (request.closing.aborted) throw stopping;
  if (request.httpVersion === "1.0" && request.remoteAddress === UNIX_PEER) throw noReset;
  const leave = places.enter(networkOf(request.client));
  if (leave === null) throw busy;
  try {
    const body = await prepare();
    if (request.method === "HEAD") {
      leave();
      return headOf(body.headers);
    }
    const gone = new AbortController();
    const signal = AbortSignal.any([gone.signal, request.closing]);
    const pieces = body.pieces(signal);
    const first = pieces.next();
    first.catch(() => {}); // `first` may reject during onBegin(); pour() reports the error
    const begun = new AbortController();
    await Promise.race([first, wait(limits.beginMs, begun.signal)]).finally(() => begun.abort());
    const end = () => {
      gone.abort();
      leave();
    };
    try {
      await body.onBegin?.();
    } catch (error) {
      gone.abort();
      abandon(first, pieces);
      throw error;
    }
    if (request.closing.aborted) {
      end();
      abandon(first, pieces);
    }
    return {
      status: 200,
      headers: body.headers,
      body: (connection) => {
        connection.once("close", end);
        void pour(connection as ServerResponse, { first, pieces, body, signal, limits });
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Returns the response to HEAD without preparing the body. Throws Refusal 503 if no place is free, as for GET. */
export function headIfFree(
  request: HttpRequest,
  places: Work,
  headers: StreamedAnswer["headers"],
): HttpResponse {
  const leave = places.enter(networkOf(request.client));
  if (leave === null) throw busy;
  leave();
  return headOf(headers);
}

function headOf(headers: StreamedAnswer["headers"]): HttpResponse {
  return { status: 200, headers, body: (connection) => connection.end() };
}

const busy = new Refusal(503, "busy", "too many downloads at once; try again when one has ended", {
  headers: { "retry-after": "10" },
});

const noReset = new Refusal(
  505,
  "http_version",
  "a download on a unix socket needs HTTP/1.1: with HTTP/1.0 an interrupted one would look complete",
);

function abandon(next: Promise<unknown>, pieces: AsyncIterator<Piece>): void {
  next.catch(() => {});
  pieces.return?.().catch(() => {});
}

interface OpenAnswer {
  readonly first: Promise<IteratorResult<Piece>>;
  readonly pieces: AsyncIterator<Piece>;
  readonly body: StreamedAnswer;
  readonly signal: AbortSignal;
  readonly limits: StreamLimits;
}

async function pour(connection: ServerResponse, pouring: OpenAnswer): Promise<void> {
  const { first, pieces, body, signal, limits } = pouring;
  let next = first;
  try {
    // Without this, Node would send the headers only with the first bytes of the body.
    connection.flushHeaders();
    for (;;) {
      const step = await inTime(next, limits.stillMs);
      if (step.done === true) break;
      if (signal.aborted || !(await isAccepted(connection, step.value, signal, limits))) {
        cutOff(connection);
        return;
      }
      next = pieces.next();
    }
    // After an abort, the pieces may have ended early.
    if (signal.aborted) {
      cutOff(connection);
      return;
    }
    if (body.trailers !== undefined) connection.addTrailers(body.trailers());
    connection.end();
  } catch (error) {
    cutOff(connection);
    if (!signal.aborted) body.onBroken(error);
  } finally {
    abandon(next, pieces);
  }
}

async function inTime<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const message = `no data for ${limitMs / 1_000} s`;
  const timer = setTimeout(() => reject(new WorkerError("timeout", message)), limitMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Writes the piece, and waits until the connection accepts more. Resolves to false if the connection fails, `stalledMs`
 * pass or `signal` aborts first.
 */
async function isAccepted(
  connection: ServerResponse,
  piece: Piece,
  signal: AbortSignal,
  { stalledMs }: StreamLimits,
) {
  if (piece.length === 0 || connection.write(piece)) return true;
  const limit = AbortSignal.any([signal, timeoutSignal(stalledMs)]);
  return once(connection, "drain", { signal: limit }).then(
    () => true,
    () => false,
  );
}
