// The bytes of answers that wait for their readers, which is memory that clients hold. Bounded for each
// connection and in all. When all of it is taken, the slowest reader makes room: whoever reads at all is
// not the slowest for long.
import type { Socket } from "node:net";
import { monotonic } from "../base/clock.ts";
import type { Limits } from "./limits.ts";
import { Refusal } from "./refusal.ts";

export interface Unread {
  /**
   * Counts an answer of so many bytes until the function that it gives is called. Throws Refusal where
   * they have no room.
   */
  add(socket: Socket, bytes: number): () => void;
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
    if (total + bytes > limits.unreadBytesInAll) throw busy();
  };

  return {
    add(socket, bytes) {
      const most = Math.min(limits.unreadBytes, limits.unreadBytesInAll);
      if (bytes > most) throw tooLarge(bytes, most);
      const own = bySocket.get(socket) ?? 0;
      if (own + bytes > limits.unreadBytes) throw busy();
      if (total + bytes > limits.unreadBytesInAll) makeRoom(socket, bytes);
      const answer = { socket, bytes, since: clock() };
      answers.add(answer);
      total += bytes;
      bySocket.set(socket, (bySocket.get(socket) ?? 0) + bytes);
      return () => remove(answer);
    },
  };
}

function tooLarge(bytes: number, most: number): Refusal {
  const size = (count: number) => `${(count / 1_048_576).toFixed(1)} MiB`;
  const message = `the answer has ${size(bytes)}, more than the ${size(most)} that one connection may hold; ask for less`;
  return new Refusal(413, "too_large", message);
}

function busy(): Refusal {
  const message = "too many answers wait for readers that do not read; try again";
  return new Refusal(503, "busy", message, { headers: { "retry-after": "2" } });
}
