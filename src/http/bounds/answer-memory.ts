// Limits the memory of responses, for each connection and in total. Memory is reserved before a large response is
// built, and counted until the client has read the response. If there is not enough memory, connections with slow
// clients are closed.
import type { Socket } from "node:net";
import { clearTimeout, monotonic, setTimeout } from "../../base/clock.ts";
import type { Limits } from "./limits.ts";

export interface AnswerMemory {
  /** Returns a reservation of 0 bytes for a request. Must be called for the requests of a connection in their order. */
  open(socket: Socket, client: string): Reservation;
}

export interface Reservation {
  /**
   * Waits until the unread responses to earlier requests of the connection have at most `readOnBytes`, or until `left`
   * aborts. Returns null if there is nothing to wait for.
   */
  readOn(left: AbortSignal): Promise<void> | null;
  /**
   * Reserves `bytes`, but at most `unreadBytesInAll`. Waits like readOn(), and then at most `memoryWaitMs` for room.
   * Resolves to false, with nothing reserved, if there was no room in time or `left` aborts.
   */
  reserve(bytes: number, left: AbortSignal): Promise<boolean>;
  /**
   * Records that the response is built, and counts its `bytes` until release(). If there is no room, records nothing,
   * and returns `busy`, or `too_large` if there can never be room for `bytes`.
   */
  settle(bytes: number): "too_large" | "busy" | null;
  release(): void;
}

type Settings = Pick<Limits, "unreadBytes" | "unreadBytesInAll" | "readOnBytes" | "memoryWaitMs">;

interface ReservedBytes {
  readonly socket: Socket;
  readonly client: string;
  bytes: number;
  isMade: boolean;
  /** When the client could begin to read the response; null before that. */
  sinceMs: number | null;
}

interface WaitingReader {
  readonly reserved: ReservedBytes;
  readonly bytes: number;
  readonly end: (hasRoom: boolean) => void;
}

/** How long a client may take to read a response before the client counts as slow, in milliseconds. */
const GRACE_MS = 1_000;

export function createAnswerMemory(
  limits: Settings,
  clock: () => number = monotonic,
): AnswerMemory {
  /** The reservations that are not empty. Those with `sinceMs` are in the order of `sinceMs`, for makeRoom(). */
  const all = new Set<ReservedBytes>();
  const waiting = new Set<WaitingReader>();
  /** For each connection, the requests whose responses are not yet read, in the order of the requests. */
  const pending = new WeakMap<Socket, Set<ReservedBytes>>();
  /** Requests that wait in readOn(), and the functions that end the wait. */
  const readers = new Map<ReservedBytes, () => void>();
  let total = 0;
  let grace: NodeJS.Timeout | null = null;

  const sumOf = (belongs: (reserved: ReservedBytes) => boolean) => {
    let sum = 0;
    for (const reserved of all) if (belongs(reserved)) sum += reserved.bytes;
    return sum;
  };
  const inWorkOf = (client: string) =>
    sumOf((reserved) => reserved.client === client && !reserved.isMade);
  const bytesOf = (client: string) => sumOf((reserved) => reserved.client === client);
  const pendingOf = (socket: Socket) => pending.get(socket) ?? new Set();
  /** With `end`, counts only the responses before `end`. */
  const unreadOf = (socket: Socket, end: ReservedBytes | null = null) => {
    let sum = 0;
    for (const reserved of pendingOf(socket)) {
      if (reserved === end) break;
      if (reserved.isMade) sum += reserved.bytes;
    }
    return sum;
  };

  const change = (reserved: ReservedBytes, bytes: number) => {
    total += bytes - reserved.bytes;
    reserved.bytes = bytes;
    all.delete(reserved);
    if (bytes > 0) all.add(reserved);
  };

  /** If the first unread response of a connection is built, records that the client can read it from now on. */
  const beginFirst = (socket: Socket) => {
    const [first] = pendingOf(socket);
    if (first?.isMade !== true || first.sinceMs !== null) return;
    first.sinceMs = clock();
    change(first, first.bytes);
  };

  /** Several responses in preparation for one client may reserve at most half of the memory. */
  const hasRoom = ({ reserved, bytes }: Pick<WaitingReader, "reserved" | "bytes">) => {
    const inWork = inWorkOf(reserved.client);
    const isShare = inWork === 0 || inWork + bytes <= limits.unreadBytesInAll / 2;
    return isShare && total + bytes <= limits.unreadBytesInAll;
  };

  /** Closes connections with slow clients, the slowest first, until there is room for `bytes`. Keeps `socket` open. */
  const makeRoom = (bytes: number, socket: Socket | null) => {
    for (const { sinceMs, socket: slowest } of all) {
      if (total + bytes <= limits.unreadBytesInAll) return;
      if (sinceMs === null || slowest === socket || clock() - sinceMs < GRACE_MS) continue;
      for (const reserved of [...all]) if (reserved.socket === slowest) change(reserved, 0);
      slowest.destroy();
    }
  };

  const serve = () => {
    const next = [...waiting].sort(
      (a, b) => bytesOf(a.reserved.client) - bytesOf(b.reserved.client),
    );
    for (const request of next) {
      if (!hasRoom(request)) makeRoom(request.bytes, request.reserved.socket);
      if (!hasRoom(request)) continue;
      waiting.delete(request);
      change(request.reserved, request.bytes);
      request.end(true);
    }
    // Repeated later, because by then more clients may have become slow.
    if (waiting.size > 0 && grace === null) {
      grace = setTimeout(serveLater, GRACE_MS / 4).unref();
    }
  };
  const serveLater = () => {
    grace = null;
    serve();
  };

  const hasReadOn = (reserved: ReservedBytes) =>
    unreadOf(reserved.socket, reserved) <= limits.readOnBytes;

  const readOn = (reserved: ReservedBytes, left: AbortSignal) => {
    if (left.aborted || hasReadOn(reserved)) return null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const go = () => {
      readers.delete(reserved);
      left.removeEventListener("abort", go);
      resolve();
    };
    readers.set(reserved, go);
    left.addEventListener("abort", go, { once: true });
    return promise;
  };

  const enqueue = (reserved: ReservedBytes, bytes: number, left: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = (found: boolean) => {
      clearTimeout(timer);
      left.removeEventListener("abort", leave);
      resolve(found);
    };
    const one: WaitingReader = { reserved, bytes, end };
    const leave = () => {
      waiting.delete(one);
      end(false);
    };
    const timer = setTimeout(leave, limits.memoryWaitMs);
    left.addEventListener("abort", leave, { once: true });
    waiting.add(one);
    if (left.aborted) leave();
    else serve();
    return promise;
  };

  return {
    open(socket, client) {
      const reserved: ReservedBytes = { socket, client, bytes: 0, isMade: false, sinceMs: null };
      pending.set(socket, pendingOf(socket).add(reserved));
      return {
        readOn: (left) => readOn(reserved, left),
        async reserve(wanted, left) {
          if (wanted <= reserved.bytes) return true;
          // Gives back the reserved memory. Otherwise, two requests could each wait for the memory that the other keeps.
          change(reserved, 0);
          await readOn(reserved, left);
          return enqueue(reserved, Math.min(wanted, limits.unreadBytesInAll), left);
        },
        settle(bytes) {
          const most = Math.min(limits.unreadBytes, limits.unreadBytesInAll);
          if (bytes > most) return "too_large";
          if (unreadOf(socket) + bytes > limits.unreadBytes) return "busy";
          const more = bytes - reserved.bytes;
          if (more > 0) makeRoom(more, socket);
          if (more > 0 && total + more > limits.unreadBytesInAll) return "busy";
          reserved.isMade = true;
          change(reserved, bytes);
          beginFirst(socket);
          if (more < 0) serve();
          return null;
        },
        release() {
          change(reserved, 0);
          pendingOf(socket).delete(reserved);
          beginFirst(socket);
          for (const pending of pendingOf(socket)) if (hasReadOn(pending)) readers.get(pending)?.();
          serve();
        },
      };
    },
  };
}
