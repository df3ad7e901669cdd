// Waiting for what the database or a server will show sooner or later.
import { setTimeout as pause } from "node:timers/promises";

const LIMIT_MS = 30_000;

/** Looks again and again until it is so; fails after `limitMs`, half a minute by default. */
export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  limitMs = LIMIT_MS,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await pause(20);
  }
}
