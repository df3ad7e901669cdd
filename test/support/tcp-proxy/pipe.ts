// One direction of a connection through the proxy. Data are passed on in order: at once, after a delay, at a limited
// rate, or not at all.
import type net from "node:net";
import type { Chunk } from "./messages.ts";

export interface Conditions {
  isMuted: boolean;
  delayMs: number;
  bytesPerSecond: number;
}

export const calm = (): Conditions => ({
  isMuted: false,
  delayMs: 0,
  bytesPerSecond: Number.POSITIVE_INFINITY,
});

type End = "end" | "reset";

interface WaitingChunk {
  readonly what: Chunk | End;
  /** When `what` is due to be passed on, by performance.now(). */
  atMs: number;
}

export interface PipeParts {
  readonly from: net.Socket;
  readonly to: net.Socket;
  /** Finds the ends of messages in received data. */
  read(bytes: Buffer): Chunk;
  /** Returns how many of these bytes pass before a cut; null: no cut. */
  cutIn(chunk: Chunk): number | null;
  /** Stops both directions. */
  stop(): void;
  cut(): void;
}

const MAX_BYTES = 1_048_576;
/** The interval at which a pipe with a limited rate passes data on. */
const SLICE_S = 0.02;

export class Pipe {
  readonly conditions = calm();
  readonly #parts: PipeParts;
  readonly #waiting: WaitingChunk[] = [];
  #bytes = 0;
  #lastAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isFull = false;
  #isOver = false;

  constructor(parts: PipeParts) {
    this.#parts = parts;
    const { from, to } = parts;
    from.setNoDelay(true);
    from.on("data", (bytes) => this.#take(bytes));
    from.on("end", () => this.#wait("end", 0));
    from.on("error", () => {});
    from.on("close", (hadError) => {
      if (hadError) this.#wait("reset", 0);
    });
    to.on("drain", () => {
      this.#isFull = false;
      this.pump();
    });
  }

  /** Passes on what the conditions allow. Call pump() after a change of the conditions. */
  pump(): void {
    clearTimeout(this.#timer);
    const { isMuted, delayMs, bytesPerSecond } = this.conditions;
    const isHasty = delayMs === 0 && bytesPerSecond === Number.POSITIVE_INFINITY;
    const nowMs = performance.now();
    while (!isMuted && !this.#isFull) {
      const [next] = this.#waiting;
      if (next === undefined) break;
      if (next.atMs > nowMs && !isHasty) {
        this.#timer = setTimeout(() => this.pump(), next.atMs - nowMs);
        break;
      }
      this.#waiting.shift();
      this.#pass(next.what);
    }
    const { from } = this.#parts;
    if (isMuted || this.#bytes > MAX_BYTES) from.pause();
    else from.resume();
  }

  /** Discards buffered data and all further data. */
  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#waiting.length = 0;
    this.#bytes = 0;
    this.#parts.from.resume();
  }

  #take(bytes: Buffer): void {
    if (this.#isOver) return;
    const chunk = this.#parts.read(bytes);
    const { bytesPerSecond } = this.conditions;
    if (bytesPerSecond === Number.POSITIVE_INFINITY) this.#wait(chunk, 0);
    else {
      const size = Math.max(1, Math.floor(bytesPerSecond * SLICE_S));
      for (let at = 0; at < bytes.length; at += size) {
        const part = slice(chunk, at, at + size);
        this.#wait(part, (part.bytes.length / bytesPerSecond) * 1_000);
      }
    }
    this.pump();
  }

  #wait(what: Chunk | End, takesMs: number): void {
    if (this.#isOver) return;
    const arrivesMs = performance.now() + this.conditions.delayMs;
    this.#lastAtMs = Math.max(arrivesMs, this.#lastAtMs + takesMs);
    this.#waiting.push({ what, atMs: this.#lastAtMs });
    if (typeof what !== "string") this.#bytes += what.bytes.length;
    else this.pump();
  }

  #pass(what: Chunk | End): void {
    const { to, cutIn, stop, cut } = this.#parts;
    if (what === "end") to.end();
    else if (what === "reset") reset(to);
    else {
      this.#bytes -= what.bytes.length;
      const passing = cutIn(what);
      if (passing === null) {
        this.#isFull = !to.destroyed && !to.write(what.bytes);
        return;
      }
      stop();
      if (passing === 0) cut();
      // The data must be sent before the connection closes.
      else to.write(what.bytes.subarray(0, passing), cut);
    }
  }
}

function slice({ bytes, ends }: Chunk, from: number, to: number): Chunk {
  const inside = ends.filter((end) => end > from && end <= to);
  return { bytes: bytes.subarray(from, to), ends: inside.map((end) => end - from) };
}

/** Resets a TCP socket (RST). Only closes a unix socket, which has no reset. */
export function reset(socket: net.Socket): void {
  if (socket.destroyed) return;
  const { writableEnded, writableFinished, writableLength } = socket;
  // Node cannot reset a socket whose FIN is pending. Without destroy(), the socket would keep the process alive.
  const isLeaving = writableEnded && !writableFinished && writableLength === 0;
  if (isLeaving || socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
