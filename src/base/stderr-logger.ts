// The default logger of a worker and of an admin: warnings and errors as text on stderr, so that failures are visible.
// It needs no package. It writes synchronously, because a program may end right after a line.
import { writeSync } from "node:fs";
import { inspect } from "node:util";
import { now } from "./clock.ts";
import { isError, UNSHOWN } from "./errors.ts";
import type { Logger } from "./logger.ts";

const STDERR = 2;

export const stderrLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (fields, message) => write("WARN", fields, message),
  error: (fields, message) => write("ERROR", fields, message),
  isLevelEnabled: (level) => level === "warn" || level === "error",
};

/** Writes a line such as `2026-11-26T03:00:00.000Z WARN a job failed …`, and a line for each field. */
function write(level: string, fields: object, message: string): void {
  const lines = Object.keys(fields).flatMap((name) => {
    const text = textIn(fields, name);
    return text === null ? [] : [`    ${name}: ${text}`];
  });
  const text = [`${new Date(now()).toISOString()} ${level} ${message}`, ...lines].join("\n");
  try {
    writeSync(STDERR, `${printable(text)}\n`);
  } catch {
    // If the disk is full or the pipe is closed, the lines are lost, but the process continues.
  }
}

/** Returns the field's text; null if its value is null or undefined. */
function textIn(fields: object, name: string): string | null {
  try {
    const value: unknown = fields[name as keyof typeof fields];
    return value === undefined || value === null ? null : textOf(value);
  } catch {
    return UNSHOWN;
  }
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value.replaceAll("\n", "\n      ");
  if (isError(value)) return (value.stack ?? value.message).replaceAll("\n", "\n      ");
  if (typeof value === "bigint") return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // JSON has no bigints and no cycles, and a toJSON() may throw.
    return inspect(value, { breakLength: Number.POSITIVE_INFINITY, customInspect: false });
  }
}

/** Escapes control characters other than line breaks, because a terminal could interpret them as commands. */
const printable = (text: string) =>
  text.replaceAll(
    /(?!\n)\p{Cc}/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
