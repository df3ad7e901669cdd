// A body that is made while it is sent. The next piece is asked for only once the connection has taken
// the one before (backpressure), so what is held for a reader is one piece, however slow it is. A
// body that breaks off, or stands still, ends its connection: an incomplete answer never looks whole.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { clearTimeout, setTimeout, timeoutSignal, wait } from "../base/clock.ts";
import { WorkerError } from "../base/errors.ts";
import { networkOf } from "./bounds/client-address.ts";
import type { Work } from "./bounds/work.ts";
import { Refusal } from "./refusal.ts";
import type { HttpRequest } from "./request.ts";
import type { HttpResponse } from "./response.ts";

type Piece = string | Uint8Array;

export interface Streamed {
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Text or bytes, of bounded size each; an empty one where it has come further and has nothing to say.
   * `signal` aborts when nobody reads any more.
   */
  readonly pieces: (signal: AbortSignal) => AsyncIterator<Piece>;
  /** What is said after the last piece, in a trailer of that name, to who takes chunks. */
  readonly trailer?: { readonly name: string; readonly value: () => string };
  /** Told of what `pieces` threw after the answer had begun. */
  readonly onBroken: (error: unknown) => void;
}

export interface StreamLimits {
  /** What fails until then becomes an answer of its own; then the headers are sent, whatever comes. */
  readonly beginMs: number;
  /** A body of which no piece comes for so long is cut. */
  readonly stillMs: number;
  /** A connection that takes nothing for so long is cut, whatever the server's own limit is. */
  readonly patienceMs: number;
}

const usual: StreamLimits = { beginMs: 1_000, stillMs: 60_000, patienceMs: 60_000 };

/**
 * The answer to `request`, made by `prepare`. It takes a place among `places` until it ends; without a
 * free one it is refused.
 */
export async function streamed(
  request: HttpRequest,
  places: Work,
  prepare: () => Promise<Streamed>,
  limits: StreamLimits = usual,
): Promise<HttpResponse> {
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
    const begun = new AbortController();
    await Promise.race([first, wait(limits.beginMs, begun.signal)]).finally(() => begun.abort());
    const end = () => {
      gone.abort();
      leave();
    };
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

/** The answer to HEAD without the body's own preparation; refused as it would be. */
export function headIfFree(
  request: HttpRequest,
  places: Work,
  headers: Streamed["headers"],
): HttpResponse {
  const leave = places.enter(networkOf(request.client));
  if (leave === null) throw busy;
  leave();
  return headOf(headers);
}

/** The answer to HEAD: of a body that nothing begins to make, the length is not known. */
function headOf(headers: Streamed["headers"]): HttpResponse {
  return { status: 200, headers, body: (connection) => connection.end() };
}

const busy = new Refusal(503, "busy", "too many downloads at once; try again when one has ended", {
  headers: { "retry-after": "10" },
});

function abandon(asked: Promise<unknown>, pieces: AsyncIterator<Piece>): void {
  asked.catch(() => {});
  pieces.return?.().catch(() => {});
}

interface Pouring {
  readonly first: Promise<IteratorResult<Piece>>;
  readonly pieces: AsyncIterator<Piece>;
  readonly body: Streamed;
  readonly signal: AbortSignal;
  readonly limits: StreamLimits;
}

async function pour(connection: ServerResponse, pouring: Pouring): Promise<void> {
  const { first, pieces, body, signal, limits } = pouring;
  let asked = first;
  try {
    // The first bytes of the body may take long.
    connection.flushHeaders();
    for (;;) {
      const step = await inTime(asked, limits.stillMs);
      if (step.done === true) break;
      if (signal.aborted || !(await isTaken(connection, step.value, signal, limits))) {
        connection.destroy();
        return;
      }
      asked = pieces.next();
    }
    // What was stopped on the way is not complete either.
    if (signal.aborted) {
      connection.destroy();
      return;
    }
    const { trailer } = body;
    if (trailer !== undefined) connection.addTrailers({ [trailer.name]: trailer.value() });
    connection.end();
  } catch (error) {
    connection.destroy();
    if (!signal.aborted) body.onBroken(error);
  } finally {
    abandon(asked, pieces);
  }
}

async function inTime<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const message = `nothing came for ${limitMs / 1_000} s`;
  const timer = setTimeout(() => reject(new WorkerError("timeout", message)), limitMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the connection is ready for more. */
async function isTaken(
  connection: ServerResponse,
  piece: Piece,
  signal: AbortSignal,
  { patienceMs }: StreamLimits,
) {
  if (piece.length === 0 || connection.write(piece)) return true;
  const limit = AbortSignal.any([signal, timeoutSignal(patienceMs)]);
  return once(connection, "drain", { signal: limit }).then(
    () => true,
    () => false,
  );
}
