// Splits a program's output into lines of limited length, and keeps the end of its stderr for the job's error.
import { StringDecoder } from "node:string_decoder";

/** Longer lines are split into pieces of this length, in UTF-16 units; the last piece may be shorter. */
export const MAX_LINE_LENGTH = 8_192;
/** How much of the end of a program's stderr is kept, in UTF-16 units. */
const MAX_TAIL_LENGTH = 8_192;

/** Splits an output stream, which arrives in chunks, into lines. */
export class Lines {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";

  /**
   * Returns the lines that end in this chunk. If the line that has not ended is longer than MAX_LINE_LENGTH, also
   * returns its pieces, except for the last one.
   */
  add(piece: Buffer): string[] {
    return this.#cut(this.#rest + this.#decoder.write(piece));
  }

  /** Returns the rest of the output: the last line, if no line break follows it. */
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
  for (let at = 0; at < line.length; at += MAX_LINE_LENGTH) {
    pieces.push(line.slice(at, at + MAX_LINE_LENGTH));
  }
  return pieces.length === 0 ? [""] : pieces;
}

/** Keeps the last lines that fit in MAX_TAIL_LENGTH together. If the last line does not fit, keeps its end. */
export class Tail {
  #text = "";
  /** Whether earlier output was dropped. The first line of `#text` may then be incomplete. */
  #isCut = false;

  add(lines: readonly string[]): void {
    for (const line of lines) this.#text += `${line}\n`;
    if (this.#text.length <= 2 * MAX_TAIL_LENGTH) return;
    this.#text = this.#text.slice(-MAX_TAIL_LENGTH);
    this.#isCut = true;
  }

  get text(): string {
    const text = this.#text.trimEnd();
    if (!this.#isCut && text.length <= MAX_TAIL_LENGTH) return text;
    const end = text.slice(-MAX_TAIL_LENGTH);
    return `…${end.slice(end.indexOf("\n") + 1)}`;
  }
}
