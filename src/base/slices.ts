// Long work on many items without holding up everybody else: after each slice the event loop gets its
// turn.
import { monotonic, nextTurn } from "./clock.ts";

/**
 * A request beside it waits for a slice at each of its round trips to the database: a dozen of 8 ms made
 * an answer of 15 ms one of 70.
 */
const SLICE_MS = 2;
/** Items between two looks at the clock. */
const BETWEEN_LOOKS = 16;

/** Calls `work` for each item in order. One item should take less than a millisecond. */
export async function inSlices<T>(
  items: readonly T[],
  work: (item: T, index: number) => void,
): Promise<void> {
  let began = monotonic();
  for (const [index, item] of items.entries()) {
    work(item, index);
    if (index % BETWEEN_LOOKS === BETWEEN_LOOKS - 1 && monotonic() - began >= SLICE_MS) {
      await nextTurn();
      began = monotonic();
    }
  }
}
