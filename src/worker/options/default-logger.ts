// The logger of a worker that was given none: warnings and errors as text on stderr, so that a first failure is seen.
// Loads nothing and writes at once: a program may end right after a line.
import { writeSync } from "node:fs";
import { now } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";

const STDERR = 2;

export const stderrLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (fields, message) => write("WARN", fields, message),
  error: (fields, message) => write("ERROR", fields, message),
  isLevelEnabled: (level) => level === "warn" || level === "error",
};

/** `2026-11-26T03:00:00.000Z WARN a job failed …`, and a line for each field. */
function write(level: string, fields: object, message: string): void {
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [`    ${name}: ${shown(value)}`],
  );
  const text = [`${new Date(now()).toISOString()} ${level} ${message}`, ...lines].join("\n");
  try {
    writeSync(STDERR, `${printable(text)}\n`);
  } catch {
    // A full disk, or a reader that has gone, costs lines and never the process.
  }
}

function shown(value: unknown): string {
  if (typeof value === "string") return value.replaceAll("\n", "\n      ");
  if (value instanceof Error) return (value.stack ?? value.message).replaceAll("\n", "\n      ");
  return JSON.stringify(value) ?? String(value);
}

/** Errors come from anywhere: nothing in them moves the cursor of a terminal. */
const printable = (text: string) =>
  text.replaceAll(
    /(?!\n)\p{Cc}/gu,
    (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
