// Checks that something is fast, also on a busy machine, on which single rounds can be slow.
import assert from "node:assert/strict";

const MAX_ROUNDS = 12;

/**
 * Runs `round` until `inSuccession` rounds in a row have each taken less than `limitMs`. Fails after 12 rounds. `round`
 * returns how long it took, in ms. If the tested mechanism did not work, a round could be fast by chance, for example
 * because of a poll. Then one fast round proves little, so more rounds in succession are needed.
 */
export async function assertFastRounds(
  limitMs: number,
  inSuccession: number,
  round: () => Promise<number>,
): Promise<void> {
  const took: number[] = [];
  for (let fast = 0; fast < inSuccession; ) {
    if (took.length === MAX_ROUNDS) {
      assert.fail(
        `the rounds took ${took.join(", ")} ms; limit for ${inSuccession} in a row: ${limitMs} ms`,
      );
    }
    const ms = await round();
    took.push(Math.round(ms));
    fast = ms < limitMs ? fast + 1 : 0;
  }
}

/** Returns how long `work` takes, in ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
