// Reads a query's characters: words, texts in quotes, operators. Knows where it is and nothing of what
// a query means.
import { isDigit, isNameLetter, isSpace, isStepEnd, isWordEnd } from "./characters.ts";
import { MOST_STEPS } from "./limits.ts";
import { QueryError, tooWide } from "./query-error.ts";
import { type Operator, operators, type PathStep, type Span } from "./query-tree.ts";

const QUOTE = '"';

export class QueryReader {
  readonly text: string;
  pos = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The next character; empty at the end. */
  get char(): string {
    return this.text.charAt(this.pos);
  }

  get isAtEnd(): boolean {
    return this.pos >= this.text.length;
  }

  get isAtSpace(): boolean {
    return !this.isAtEnd && isSpace(this.text.charCodeAt(this.pos));
  }

  from(at: number): Span {
    return { at, end: this.pos };
  }

  skipSpace(): void {
    this.pos = this.#endOf(isSpace);
  }

  /** The word that begins here, unread; may be empty. */
  peekWord(): string {
    return this.text.slice(
      this.pos,
      this.#endOf((c) => !isWordEnd(c)),
    );
  }

  /** The keyword that begins here, unread, in small letters; null for anything else. */
  peekKeyword(): "and" | "or" | "not" | null {
    const word = this.peekWord().toLowerCase();
    return word === "and" || word === "or" || word === "not" ? word : null;
  }

  word(): string {
    const word = this.peekWord();
    this.pos += word.length;
    return word;
  }

  /** The letters here, as far as they could be a field's name. */
  peekName(): string {
    return this.text.slice(this.pos, this.#endOf(isNameLetter));
  }

  /** Whether the next character is this one; then it is read. */
  take(char: string): boolean {
    if (this.char !== char) return false;
    this.pos++;
    return true;
  }

  /** A text in quotes, in which a backslash takes the next character as it is. */
  string(): string {
    const at = this.pos;
    let text = "";
    for (this.pos++; this.char !== QUOTE; this.pos++) {
      if (this.char === "\\") this.pos++;
      if (this.isAtEnd) {
        this.pos = this.text.length;
        const message = `the quote at character ${at + 1} is never closed`;
        throw new QueryError({ at: this.pos, end: this.pos }, message, QUOTE);
      }
      text += this.char;
    }
    this.pos++;
    return text;
  }

  /** The operator at a place; null for anything else. */
  operatorAt(pos: number): Operator | null {
    return operators.find((op) => this.text.startsWith(op, pos)) ?? null;
  }

  /** Whether a step of a path begins at a place. */
  isStepAt(pos: number): boolean {
    const char = this.text.charAt(pos);
    return char === "." || char === "[";
  }

  /** `.to.name[0]."odd name"` */
  path(): PathStep[] {
    const steps: PathStep[] = [];
    while (this.isStepAt(this.pos)) {
      const at = this.pos;
      steps.push(this.char === "." ? this.#member() : this.#element());
      if (steps.length > MOST_STEPS) {
        throw tooWide(this.from(at), `a path may have ${MOST_STEPS} steps at most`);
      }
    }
    return steps;
  }

  #member(): string {
    const at = this.pos++;
    if (this.char === QUOTE) return this.string();
    const end = this.#endOf((c) => !isStepEnd(c));
    const name = this.text.slice(this.pos, end);
    this.pos = end;
    if (name === "") throw new QueryError(this.from(at), 'a name is missing behind "."');
    return name;
  }

  #element(): number {
    const at = this.pos++;
    const end = this.#endOf(isDigit);
    const digits = this.text.slice(this.pos, end);
    this.pos = end;
    if (digits === "" || digits.length > 9 || this.char !== "]") {
      throw new QueryError(this.from(at), 'an element is a number in brackets, as in "[0]"');
    }
    this.pos++;
    return Number(digits);
  }

  #endOf(belongs: (c: number) => boolean): number {
    let end = this.pos;
    while (end < this.text.length && belongs(this.text.charCodeAt(end))) end++;
    return end;
  }
}
