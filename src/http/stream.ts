// A body that is made while it is sent. The next piece is asked for only once the connection has taken
// the one before (backpressure), so what is held for a reader is one piece, however slow it is. A
// body that breaks off ends its connection: an incomplete answer never looks whole.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { networkOf } from "./bounds/client-address.ts";
import type { Work } from "./bounds/work.ts";
import { Refusal } from "./refusal.ts";
import type { HttpRequest } from "./request.ts";
import type { HttpResponse } from "./response.ts";

type Piece = string | Uint8Array;

export interface Streamed {
  readonly headers: Readonly<Record<string, string>>;
  /** Text or bytes, of bounded size each. `signal` aborts when nobody reads any more. */
  readonly pieces: (signal: AbortSignal) => AsyncIterator<Piece>;
  /** What is said after the last piece, in a trailer of that name, to who takes chunks. */
  readonly trailer?: { readonly name: string; readonly value: () => string };
  /** Told of what `pieces` threw after the answer had begun. */
  readonly onBroken: (error: unknown) => void;
}

/**
 * The answer to `request`, made by `prepare`. It takes a place among `places` until it ends; without a
 * free one it is refused. Its first piece is made before anything is sent, so that what fails until then
 * becomes an answer of its own.
 */
export async function streamed(
  request: HttpRequest,
  places: Work,
  prepare: () => Promise<Streamed>,
): Promise<HttpResponse> {
  const leave = places.enter(networkOf(request.client));
  if (leave === null) throw busy;
  try {
    const body = await prepare();
    const gone = new AbortController();
    const signal = AbortSignal.any([gone.signal, request.closing]);
    const pieces = body.pieces(signal);
    const first = await pieces.next();
    const end = () => {
      gone.abort();
      leave();
    };
    // Nobody asks for the body then.
    if (request.method === "HEAD" || request.closing.aborted) end();
    return {
      status: 200,
      headers: body.headers,
      body: (connection) => {
        connection.once("close", end);
        void pour(connection as ServerResponse, first, pieces, body, signal);
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

const busy = new Refusal(503, "busy", "too many downloads at once; try again when one has ended", {
  headers: { "retry-after": "10" },
});

/** A connection that takes nothing for so long is cut, whatever the server's own limit is. */
const PATIENCE_MS = 60_000;

async function pour(
  connection: ServerResponse,
  first: IteratorResult<Piece>,
  pieces: AsyncIterator<Piece>,
  { trailer, onBroken }: Streamed,
  signal: AbortSignal,
): Promise<void> {
  try {
    // The first bytes of the body may take long.
    if (first.done !== true && first.value.length === 0) connection.flushHeaders();
    for (let step = first; step.done !== true; step = await pieces.next()) {
      if (signal.aborted || !(await isTaken(connection, step.value, signal))) {
        connection.destroy();
        return;
      }
    }
    // What was stopped on the way is not complete either.
    if (signal.aborted) {
      connection.destroy();
      return;
    }
    if (trailer !== undefined) connection.addTrailers({ [trailer.name]: trailer.value() });
    connection.end();
  } catch (error) {
    connection.destroy();
    if (!signal.aborted) onBroken(error);
  } finally {
    await pieces.return?.().catch(() => {});
  }
}

/** Whether the connection is ready for more. */
async function isTaken(connection: ServerResponse, piece: Piece, signal: AbortSignal) {
  if (piece.length === 0 || connection.write(piece)) return true;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  return once(connection, "drain", { signal: limit }).then(
    () => true,
    () => false,
  );
}
