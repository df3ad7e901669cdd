// The bytes of answers that wait for their readers, which is memory that clients hold. Bounded for each
// connection and in all. When all of it is taken, the slowest reader makes room: whoever reads at all is
// not the slowest for long.
import type { Socket } from "node:net";
import { monotonic } from "../../base/clock.ts";
import type { Limits } from "./limits.ts";

export interface Unread {
  /**
   * Counts an answer of so many bytes until the function that it gives is called. `too_large`: it would
   * never have room; `busy`: it has none now.
   */
  add(socket: Socket, bytes: number): (() => void) | "too_large" | "busy";
}

interface Answer {
  readonly socket: Socket;
  readonly bytes: number;
  readonly since: number;
}

/** Nobody is called slow before that. */
const GRACE_MS = 1_000;

export function createUnread(
  limits: Pick<Limits, "unreadBytes" | "unreadBytesInAll">,
  clock: () => number = monotonic,
): Unread {
  // The oldest stands first.
  const answers = new Set<Answer>();
  const bySocket = new WeakMap<Socket, number>();
  let total = 0;

  const remove = (answer: Answer) => {
    if (!answers.delete(answer)) return;
    total -= answer.bytes;
    bySocket.set(answer.socket, (bySocket.get(answer.socket) ?? 0) - answer.bytes);
  };

  const makeRoom = (socket: Socket, bytes: number) => {
    for (const slowest of answers) {
      if (total + bytes <= limits.unreadBytesInAll) return;
      if (slowest.socket === socket || clock() - slowest.since < GRACE_MS) break;
      for (const answer of answers) if (answer.socket === slowest.socket) remove(answer);
      slowest.socket.destroy();
    }
  };

  return {
    add(socket, bytes) {
      const most = Math.min(limits.unreadBytes, limits.unreadBytesInAll);
      if (bytes > most) return "too_large";
      const own = bySocket.get(socket) ?? 0;
      if (own + bytes > limits.unreadBytes) return "busy";
      makeRoom(socket, bytes);
      if (total + bytes > limits.unreadBytesInAll) return "busy";
      const answer = { socket, bytes, since: clock() };
      answers.add(answer);
      total += bytes;
      bySocket.set(socket, (bySocket.get(socket) ?? 0) + bytes);
      return () => remove(answer);
    },
  };
}
