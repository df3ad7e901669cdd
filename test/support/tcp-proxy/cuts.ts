// Decides from the data that pass through a connection at which byte the connection is cut.

import type { Direction, Link } from "./link.ts";
import type { Chunk } from "./messages.ts";

/**
 * `in` inspects the next chunk. If the connection is to be cut, it returns how many bytes of the chunk still pass;
 * otherwise null.
 */
export interface Cut {
  in(link: Link, direction: Direction, chunk: Chunk): number | null;
}

export interface CutOptions {
  /** The direction whose messages count. Default: both. */
  readonly direction?: Direction;
  /** Whether a part of the next message passes, too. Default: false. */
  readonly isTorn?: boolean;
}

/** Cuts after message number `count`, counted from now on over all connections that this cut inspects. */
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

/** Cuts before the server's message that contains `text`. Parts of this message in earlier chunks pass, too. */
export function cutBefore(text: string): Cut {
  const tails = new WeakMap<Link, Buffer>();
  return {
    in(link, direction, { bytes, ends }) {
      if (direction !== "answers") return null;
      // The text may begin in the previous chunk.
      const tail = tails.get(link) ?? Buffer.alloc(0);
      const found = Buffer.concat([tail, bytes]).indexOf(text) - tail.length;
      tails.set(link, bytes.subarray(Math.max(0, bytes.length - text.length + 1)));
      if (found < -tail.length) return null;
      return ends.findLast((end) => end <= Math.max(0, found)) ?? 0;
    },
  };
}
