// Checks that something is fast, also on a busy machine, on which single rounds can be slow.
import assert from "node:assert/strict";

const ROUNDS = 5;

/** Runs `round` until it takes less than `limitMs`, at most five times. `round` returns how long it took, in ms. */
export async function assertFastRound(
  limitMs: number,
  round: () => Promise<number>,
): Promise<void> {
  const took: number[] = [];
  while (took.length < ROUNDS) {
    const ms = await round();
    if (ms < limitMs) return;
    took.push(Math.round(ms));
  }
  assert.fail(`no round took less than ${limitMs} ms: ${took.join(", ")} ms`);
}

/** Like assertFastRound(), with rounds that end when the promise of `round` resolves. */
export const assertFast = (limitMs: number, round: () => Promise<unknown>): Promise<void> =>
  assertFastRound(limitMs, async () => {
    const began = performance.now();
    await round();
    return performance.now() - began;
  });
