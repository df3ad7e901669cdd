// Waits until a test's condition is true, for example in the database.
import { setTimeout as pause } from "node:timers/promises";

const LIMIT_MS = 30_000;

/** Checks `isSo` every 20 ms until it is true. Throws after `limitMs`, by default half a minute. */
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
