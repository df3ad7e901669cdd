// Splits a program's output into lines of limited length, and keeps its end.
import { StringDecoder } from "node:string_decoder";

/** Longer lines are split. */
const LONGEST_LINE = 8_192;
/** The length of a program's errors that is kept, in UTF-16 units. */
const LONGEST_TAIL = 8_192;

/** Splits pieces of output into lines. */
export class Lines {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";

  /** Returns the lines that this piece completes. */
  add(piece: Buffer): string[] {
    return this.#cut(this.#rest + this.#decoder.write(piece));
  }

  /** Returns the last line without a line end. */
  end(): string[] {
    const lines = this.#cut(this.#rest + this.#decoder.end());
    const rest = this.#rest;
    this.#rest = "";
    return rest === "" ? lines : [...lines, rest];
  }

  #cut(text: string): string[] {
    const parts = text.split(/\r?\n/);
    this.#rest = parts.pop() ?? "";
    const lines = parts.flatMap(inPieces);
    const pieces = inPieces(this.#rest);
    this.#rest = pieces.pop() ?? "";
    return [...lines, ...pieces];
  }
}

function inPieces(line: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < line.length; at += LONGEST_LINE) {
    pieces.push(line.slice(at, at + LONGEST_LINE));
  }
  return pieces.length === 0 ? [""] : pieces;
}

/** Keeps the last lines, as many as fit. */
export class Tail {
  #text = "";
  /** Whether output was dropped, so that the first line may be incomplete. */
  #isCut = false;

  add(lines: readonly string[]): void {
    for (const line of lines) this.#text += `${line}\n`;
    if (this.#text.length <= 2 * LONGEST_TAIL) return;
    this.#text = this.#text.slice(-LONGEST_TAIL);
    this.#isCut = true;
  }

  get text(): string {
    const text = this.#text.trimEnd();
    if (!this.#isCut && text.length <= LONGEST_TAIL) return text;
    const end = text.slice(-LONGEST_TAIL);
    return `…${end.slice(end.indexOf("\n") + 1)}`;
  }
}
