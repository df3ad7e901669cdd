// The bytes of answers, which is memory that clients hold: reserved before the work on a large one begins,
// counted while it waits for its reader. Bounded for each connection and in all. Of requests that wait for
// room the one whose client holds least is next. Where none comes free, the slowest reader makes room: a
// reader that reads at all is not the slowest for long.
import type { Socket } from "node:net";
import { clearTimeout, monotonic, setTimeout } from "../../base/clock.ts";
import type { Limits } from "./limits.ts";

export interface AnswerMemory {
  /** What one request holds: nothing at first. The requests of a connection are opened in their order. */
  open(socket: Socket, client: string): HeldAnswer;
}

export interface HeldAnswer {
  /** Resolves once the connection has taken the answers before this one but for a part, or has gone. */
  readOn(left: AbortSignal): Promise<void> | null;
  /**
   * Reserves so many bytes, or all there are; false where there was no room in time. The answers that the
   * connection has to read first do not count in that time.
   */
  reserve(bytes: number, left: AbortSignal): Promise<boolean>;
  /**
   * The answer is made and has so many bytes until it is released. `too_large`: it would never have room;
   * `busy`: it has none now.
   */
  settle(bytes: number): "too_large" | "busy" | null;
  release(): void;
}

type Settings = Pick<Limits, "unreadBytes" | "unreadBytesInAll" | "readOnBytes" | "lineMs">;

interface Held {
  readonly socket: Socket;
  readonly client: string;
  bytes: number;
  isMade: boolean;
  /** Since when its answer can be read; null: it, or one that the connection has to send before it, is in work. */
  sinceMs: number | null;
}

interface Waiting {
  readonly held: Held;
  readonly bytes: number;
  readonly end: (hasRoom: boolean) => void;
}

/** No reader is called slow before that. */
const GRACE_MS = 1_000;

export function createAnswerMemory(
  limits: Settings,
  clock: () => number = monotonic,
): AnswerMemory {
  /** The oldest first. */
  const all = new Set<Held>();
  const waiting = new Set<Waiting>();
  /** The answers of each connection that are not taken yet, in their order. */
  const pending = new WeakMap<Socket, Set<Held>>();
  /** Requests that wait for the reader of the answers before them. */
  const readers = new Map<Held, () => void>();
  let total = 0;
  let grace: NodeJS.Timeout | null = null;

  const sumOf = (belongs: (held: Held) => boolean) => {
    let sum = 0;
    for (const held of all) if (belongs(held)) sum += held.bytes;
    return sum;
  };
  const inWorkOf = (client: string) => sumOf((held) => held.client === client && !held.isMade);
  const heldBy = (client: string) => sumOf((held) => held.client === client);
  const pendingOf = (socket: Socket) => pending.get(socket) ?? new Set();
  /** Made and not taken: of the whole connection, or of what it sends before one of them. */
  const unreadOf = (socket: Socket, end: Held | null = null) => {
    let sum = 0;
    for (const held of pendingOf(socket)) {
      if (held === end) break;
      if (held.isMade) sum += held.bytes;
    }
    return sum;
  };

  const change = (held: Held, bytes: number) => {
    total += bytes - held.bytes;
    held.bytes = bytes;
    all.delete(held);
    if (bytes > 0) all.add(held);
  };

  /** The first answer of a connection can be read once it is made. */
  const beginFirst = (socket: Socket) => {
    const [first] = pendingOf(socket);
    if (first?.isMade !== true || first.sinceMs !== null) return;
    first.sinceMs = clock();
    change(first, first.bytes);
  };

  /** One client's work takes no more than half, so that others find room beside it. */
  const hasRoom = ({ held, bytes }: Pick<Waiting, "held" | "bytes">) => {
    const inWork = inWorkOf(held.client);
    const isShare = inWork === 0 || inWork + bytes <= limits.unreadBytesInAll / 2;
    return isShare && total + bytes <= limits.unreadBytesInAll;
  };

  /** Cuts the slowest readers off, as many as it takes; never `socket`. */
  const makeRoom = (bytes: number, socket: Socket | null) => {
    for (const { sinceMs, socket: slowest } of all) {
      if (total + bytes <= limits.unreadBytesInAll) return;
      if (sinceMs === null || slowest === socket || clock() - sinceMs < GRACE_MS) continue;
      for (const held of [...all]) if (held.socket === slowest) change(held, 0);
      slowest.destroy();
    }
  };

  const serve = () => {
    const next = [...waiting].sort((a, b) => heldBy(a.held.client) - heldBy(b.held.client));
    for (const one of next) {
      if (!hasRoom(one)) makeRoom(one.bytes, one.held.socket);
      if (!hasRoom(one)) continue;
      waiting.delete(one);
      change(one.held, one.bytes);
      one.end(true);
    }
    // A reader that is not slow yet may be so later.
    if (waiting.size > 0 && grace === null) {
      grace = setTimeout(serveLater, GRACE_MS / 4).unref();
    }
  };
  const serveLater = () => {
    grace = null;
    serve();
  };

  const hasReadOn = (held: Held) => unreadOf(held.socket, held) <= limits.readOnBytes;

  const readOn = (held: Held, left: AbortSignal) => {
    if (left.aborted || hasReadOn(held)) return null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const go = () => {
      readers.delete(held);
      left.removeEventListener("abort", go);
      resolve();
    };
    readers.set(held, go);
    left.addEventListener("abort", go, { once: true });
    return promise;
  };

  const stand = (held: Held, bytes: number, left: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = (found: boolean) => {
      clearTimeout(timer);
      left.removeEventListener("abort", leave);
      resolve(found);
    };
    const one: Waiting = { held, bytes, end };
    const leave = () => {
      waiting.delete(one);
      end(false);
    };
    const timer = setTimeout(leave, limits.lineMs);
    left.addEventListener("abort", leave, { once: true });
    waiting.add(one);
    if (left.aborted) leave();
    else serve();
    return promise;
  };

  return {
    open(socket, client) {
      const held: Held = { socket, client, bytes: 0, isMade: false, sinceMs: null };
      pending.set(socket, pendingOf(socket).add(held));
      return {
        readOn: (left) => readOn(held, left),
        async reserve(wanted, left) {
          if (wanted <= held.bytes) return true;
          // Two that hold a part and wait for the rest would wait for each other.
          change(held, 0);
          await readOn(held, left);
          return stand(held, Math.min(wanted, limits.unreadBytesInAll), left);
        },
        settle(bytes) {
          const most = Math.min(limits.unreadBytes, limits.unreadBytesInAll);
          if (bytes > most) return "too_large";
          if (unreadOf(socket) + bytes > limits.unreadBytes) return "busy";
          const more = bytes - held.bytes;
          if (more > 0) makeRoom(more, socket);
          if (more > 0 && total + more > limits.unreadBytesInAll) return "busy";
          held.isMade = true;
          change(held, bytes);
          beginFirst(socket);
          if (more < 0) serve();
          return null;
        },
        release() {
          change(held, 0);
          pendingOf(socket).delete(held);
          beginFirst(socket);
          for (const one of pendingOf(socket)) if (hasReadOn(one)) readers.get(one)?.();
          serve();
        },
      };
    },
  };
}
