// Waits until a condition of a test is true.
import { setTimeout as pause } from "node:timers/promises";

const LIMIT_MS = 30_000;

/** Calls `isSo` every 20 ms until it resolves to true. Throws after `limitMs`, by default half a minute. */
export async function waitUntil(
  what: string,
  isSo: () => Promise<boolean>,
  limitMs = LIMIT_MS,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`timed out waiting until ${what}`);
    await pause(20);
  }
}
