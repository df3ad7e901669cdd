// Waits for a condition in the database or a server.
import { setTimeout as pause } from "node:timers/promises";

const LIMIT_MS = 30_000;

/** Checks repeatedly until the condition holds. Fails after `limitMs`, by default half a minute. */
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
