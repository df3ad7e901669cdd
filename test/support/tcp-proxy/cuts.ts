// When a connection is to be cut, by what passes through it.

import type { Direction, Link } from "./link.ts";
import type { Chunk } from "./messages.ts";

/** Looks at what is about to pass; gives how much of it still does, or null: all, and nothing is cut. */
export interface Cut {
  in(link: Link, direction: Direction, chunk: Chunk): number | null;
}

export interface CutOptions {
  /** Whose messages count. Default: of both. */
  readonly direction?: Direction;
  /** A piece of the next message passes, too. */
  readonly isTorn?: boolean;
}

/** Behind the n-th message from now on, counted over all connections that it looks at. */
export function cutBehind(count: number, { direction: only, isTorn = false }: CutOptions): Cut {
  let left = count;
  return {
    in(_link, direction, { bytes, ends }) {
      if (only !== undefined && only !== direction) return null;
      if (left > ends.length || (left === ends.length && left > 0 && isTorn)) {
        left -= ends.length;
        return null;
      }
      const at = ends[left - 1] ?? 0;
      if (!isTorn) return at;
      const next = ends[left] ?? bytes.length;
      return at + Math.ceil((next - at) / 2);
    },
  };
}

/** Before the message of the server that contains `text`. */
export function cutBefore(text: string): Cut {
  const tails = new WeakMap<Link, Buffer>();
  return {
    in(link, direction, { bytes, ends }) {
      if (direction !== "answers") return null;
      // The text may have begun in the chunk before.
      const tail = tails.get(link) ?? Buffer.alloc(0);
      const found = Buffer.concat([tail, bytes]).indexOf(text) - tail.length;
      tails.set(link, bytes.subarray(Math.max(0, bytes.length - text.length + 1)));
      if (found < -tail.length) return null;
      return ends.findLast((end) => end <= Math.max(0, found)) ?? 0;
    },
  };
}
