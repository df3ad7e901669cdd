// A body that is made while it is sent. The next piece is asked for only once the connection has taken
// the one before (backpressure), so what is held for a reader is one piece, however slow it is. A
// body that breaks off ends its connection: an incomplete answer never looks whole.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import type { HttpRequest } from "./request.ts";
import type { HttpResponse } from "./response.ts";

export interface Streamed {
  readonly headers: Readonly<Record<string, string>>;
  /** Text or bytes, of bounded size each. `signal` aborts when nobody reads any more. */
  readonly pieces: (signal: AbortSignal) => AsyncIterator<string | Uint8Array>;
  /** What is said after the last piece, in a trailer of that name. */
  readonly trailer?: { readonly name: string; readonly value: () => string };
  /** Told of what `pieces` threw after the answer had begun. */
  readonly onBroken: (error: unknown) => void;
}

/**
 * The answer to `request`. Its first piece is made before anything is sent, so that what fails until
 * then becomes an answer of its own.
 */
export async function streamed(request: HttpRequest, body: Streamed): Promise<HttpResponse> {
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, request.closing]);
  const pieces = body.pieces(signal);
  const first = await pieces.next();
  const trailer = body.trailer === undefined ? {} : { trailer: body.trailer.name };
  return {
    status: 200,
    headers: { ...body.headers, ...trailer },
    body: (connection) => {
      connection.once("close", () => gone.abort());
      void pour(connection as ServerResponse, first, pieces, body, signal);
    },
  };
}

/** A connection that takes nothing for so long is cut. */
const PATIENCE_MS = 30_000;

async function pour(
  connection: ServerResponse,
  first: IteratorResult<string | Uint8Array>,
  pieces: AsyncIterator<string | Uint8Array>,
  { trailer, onBroken }: Streamed,
  signal: AbortSignal,
): Promise<void> {
  // Between two pieces there may be much work and nothing to say.
  connection.setTimeout?.(0);
  try {
    for (let step = first; step.done !== true; step = await pieces.next()) {
      if (signal.aborted || !(await isTaken(connection, step.value, signal))) {
        connection.destroy();
        return;
      }
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
async function isTaken(
  connection: Writable,
  piece: string | Uint8Array,
  signal: AbortSignal,
): Promise<boolean> {
  if (piece.length === 0 || connection.write(piece)) return true;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  return once(connection, "drain", { signal: limit }).then(
    () => true,
    () => false,
  );
}
