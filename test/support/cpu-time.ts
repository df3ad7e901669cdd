// What a piece of work costs the processor: a busy machine makes it wait, not dearer.
import assert from "node:assert/strict";

const ROUNDS = 5;

/** The least of several rounds in milliseconds: the others include compiling and collecting garbage. */
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

/** Fails where `work` takes more than that. */
export function assertQuick(limitMs: number, what: string, work: () => unknown): void {
  const ms = cpuMs(work, limitMs);
  assert.ok(ms <= limitMs, `${what}: ${ms} ms`);
}
