// Splits long work on many items into slices, so that other work gets its turn on the event loop.
import { monotonic, nextTurn } from "./clock.ts";

/**
 * The length of a slice, in milliseconds. A concurrent request waits up to one slice at each of its round trips to the
 * database: with a dozen round trips and slices of 8 ms, an answer took 70 ms instead of 15.
 */
const SLICE_MS = 2;

/**
 * Calls `work` for each item in order. A slice ends only between two items, after the item during which it reaches
 * SLICE_MS, so the work for a single item must be short.
 */
export async function inSlices<T>(
  items: readonly T[],
  work: (item: T, index: number) => void,
): Promise<void> {
  let began = monotonic();
  for (const [index, item] of items.entries()) {
    work(item, index);
    if (monotonic() - began >= SLICE_MS) {
      await nextTurn();
      began = monotonic();
    }
  }
}
