// Logs a program's output, up to a limit for each attempt. The worker's secrets are replaced in the output, because a
// program may print its environment.
import type { Logger } from "../../base/logger.ts";
import { numberText } from "../../domain/words.ts";
import { MAX_LINE_LENGTH, Tail } from "./program-output.ts";

export const MAX_LINES = 10_000;
export const MAX_CHARACTERS = 4_000_000;
/** Shorter secrets are not replaced, because they would match parts of words. */
const MIN_SECRET_LENGTH = 4;

type StreamName = "stdout" | "stderr";

export interface ProgramLog {
  readonly lines: (stream: StreamName, lines: readonly string[]) => void;
  /** Logs the rest, and how many lines were not logged. Returns the end of stderr. */
  readonly end: () => string;
}

export function programLog(logger: Logger, secrets: Secrets): ProgramLog {
  const streams = { stdout: new RedactedLines(secrets), stderr: new RedactedLines(secrets) };
  const errors = new Tail();
  let count = 0;
  let characters = 0;
  let leftOut = 0;
  const add = (stream: StreamName, lines: readonly string[]) => {
    if (stream === "stderr") errors.add(lines);
    for (const line of lines) {
      if (count >= MAX_LINES || characters >= MAX_CHARACTERS) {
        leftOut++;
        continue;
      }
      count++;
      characters += line.length;
      if (stream === "stdout") logger.info({ stream }, line);
      else logger.warn({ stream }, line);
    }
  };
  return {
    lines: (stream, lines) => add(stream, streams[stream].add(lines)),
    end: () => {
      for (const stream of ["stdout", "stderr"] as const) add(stream, streams[stream].end());
      if (leftOut > 0)
        logger.warn({ left_out: leftOut }, `… ${numberText(leftOut)} lines left out`);
      return errors.text;
    },
  };
}

/**
 * Texts that are replaced by ••••. Their URL-encoded form, their form inside a JSON string, and each of their lines are
 * replaced, too.
 */
export class Secrets {
  /** null: there are no secrets, or all are too short. */
  readonly #pattern: RegExp | null;
  readonly #longest: number;

  constructor(secrets: readonly string[]) {
    const lines = secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]);
    const long = lines.filter(({ length }) => length >= MIN_SECRET_LENGTH);
    const formsOf = (secret: string) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
    ];
    const all = [...new Set(long.flatMap(formsOf))];
    // The longest secrets come first, because a secret may begin with a shorter secret.
    all.sort((a, b) => b.length - a.length);
    const patterns = all.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    this.#pattern = all.length === 0 ? null : new RegExp(patterns.join("|"), "g");
    this.#longest = all[0]?.length ?? 0;
  }

  redact(text: string): string {
    return this.#pattern === null ? text : text.replace(this.#pattern, "••••");
  }

  /** Returns how many characters can be redacted now. In the rest, a secret may begin that has not fully arrived. */
  settledLength(text: string): number {
    if (this.#pattern === null) return text.length;
    let settled = Math.max(0, text.length - this.#longest + 1);
    for (const { index, 0: secret } of text.matchAll(this.#pattern)) {
      if (index >= settled) break;
      settled = Math.max(settled, index + secret.length);
    }
    return settled;
  }
}

/** Replaces secrets in the lines of a stream, even if a long line was split within a secret. */
class RedactedLines {
  readonly #secrets: Secrets;
  /** The unlogged end of the previous piece of a long line. */
  #held = "";

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  add(lines: readonly string[]): string[] {
    return lines.flatMap((line) => {
      const text = this.#held + line;
      // Each piece of a long line, except for the last, has this length.
      const isPiece = line.length === MAX_LINE_LENGTH;
      const settled = isPiece ? this.#secrets.settledLength(text) : text.length;
      this.#held = text.slice(settled);
      return isPiece && settled === 0 ? [] : [this.#secrets.redact(text.slice(0, settled))];
    });
  }

  end(): string[] {
    const held = this.#held;
    this.#held = "";
    return held === "" ? [] : [this.#secrets.redact(held)];
  }
}
