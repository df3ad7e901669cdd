// Keeps a connection from having many requests in work at once. Node's parser makes requests of all
// bytes that have come, a thousand from one packet. Here it is fed in slices, and not while enough of its
// requests are in work: what comes behind them waits as bytes, then in the kernel, then at the client.
//
//   feeding ──enough requests in work──▶ holding (socket paused) ──one is answered──▶ feeding
import type { Socket } from "node:net";

/** At the most twenty requests, since none is shorter than 26 bytes. */
const SLICE_BYTES = 512;

/** What node:http keeps on a socket of its own: whether it has paused the parser, and the parser. */
interface ServedSocket extends Socket {
  readonly _paused?: boolean;
  readonly parser?: object | null;
}

/** Call what it gives when `isFull` may have become false. */
export function pacePipeline(socket: Socket, isFull: () => boolean): () => void {
  const served = socket as ServedSocket;
  const parse = socket.listeners("data")[0] as ((bytes: Buffer) => void) | undefined;
  if (parse === undefined) return () => {};
  let waiting: Buffer | null = null;
  let isFeeding = false;
  let isHolding = false;

  const feed = () => {
    if (isFeeding) return;
    isFeeding = true;
    while (waiting !== null && !isFull() && served._paused !== true) {
      // After an error, or an upgrade, nobody parses any more.
      if (socket.destroyed || socket.writableEnded || !served.parser) {
        waiting = null;
        break;
      }
      const slice: Buffer = waiting.subarray(0, SLICE_BYTES);
      waiting = slice.length < waiting.length ? waiting.subarray(SLICE_BYTES) : null;
      parse.call(socket, slice);
    }
    isFeeding = false;
    if (waiting !== null && !socket.destroyed) {
      isHolding = true;
      socket.pause();
    } else if (isHolding) {
      isHolding = false;
      if (served._paused !== true) socket.resume();
    }
  };

  socket.off("data", parse);
  socket.on("data", (bytes: Buffer) => {
    waiting = waiting === null ? bytes : Buffer.concat([waiting, bytes]);
    feed();
  });
  // node:http resumes by itself when answers have been taken, or somebody reads a body.
  socket.on("resume", () => waiting !== null && feed());
  return () => waiting !== null && feed();
}
