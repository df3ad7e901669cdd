// Logs a program's output, with a limit for each attempt and without the worker's secrets, which a program has in
// its environment and may print.
import type { Logger } from "../../base/logger.ts";
import { numberText } from "../../domain/words.ts";

export const MAX_LINES = 10_000;
export const MAX_CHARACTERS = 4_000_000;
/** Shorter secrets would match parts of words. */
const MIN_SECRET_LENGTH = 4;

export interface ProgramLog {
  readonly lines: (stream: "stdout" | "stderr", lines: readonly string[]) => void;
  /** Logs the number of lines that were left out. */
  readonly end: () => void;
}

export function programLog(logger: Logger, redact: (text: string) => string): ProgramLog {
  let lines = 0;
  let characters = 0;
  let leftOut = 0;
  const add = (stream: "stdout" | "stderr", line: string) => {
    if (lines >= MAX_LINES || characters >= MAX_CHARACTERS) {
      leftOut++;
      return;
    }
    lines++;
    characters += line.length;
    if (stream === "stdout") logger.info({ stream }, redact(line));
    else logger.warn({ stream }, redact(line));
  };
  return {
    lines: (stream, some) => {
      for (const line of some) add(stream, line);
    },
    end: () => {
      if (leftOut > 0)
        logger.warn({ left_out: leftOut }, `… ${numberText(leftOut)} lines left out`);
    },
  };
}

/** Returns a function that replaces the secrets, also in their URL-encoded form. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const all = [...new Set(long.flatMap((secret) => [secret, encodeURIComponent(secret)]))];
  // The longest first, because one may be part of another.
  all.sort((a, b) => b.length - a.length);
  return (text) => all.reduce((rest, secret) => rest.replaceAll(secret, "••••"), text);
}
