// Measures processor time, not elapsed time. On a busy machine, other programs increase the processor time less than
// the elapsed time.
import assert from "node:assert/strict";

const ROUNDS = 5;

/**
 * Runs `work` in up to five rounds; a round that takes at most `enoughMs` is the last. Returns the processor time of
 * the fastest round, in milliseconds, because compilation and garbage collection make other rounds slower.
 */
export function cpuMs(work: () => unknown, enoughMs = 0): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && least > enoughMs; round++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

/** Fails if `work` takes more than `limitMs` milliseconds of processor time in each of five rounds. */
export function assertQuick(limitMs: number, what: string, work: () => unknown): void {
  const ms = cpuMs(work, limitMs);
  assert.ok(ms <= limitMs, `${what}: ${ms} ms`);
}
