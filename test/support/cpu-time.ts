// The processor time of some work, which does not grow on a busy machine.
import assert from "node:assert/strict";

const ROUNDS = 5;

/**
 * Returns the least processor time of several rounds in milliseconds; the other rounds include compilation and garbage
 * collection. A round that takes at most `enoughMs` is the last.
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

/** Fails if `work` takes longer than `limitMs` milliseconds of processor time. */
export function assertQuick(limitMs: number, what: string, work: () => unknown): void {
  const ms = cpuMs(work, limitMs);
  assert.ok(ms <= limitMs, `${what}: ${ms} ms`);
}
