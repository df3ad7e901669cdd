/**
 * Reads a query's characters: words, texts in quotes, operators. Keeps the first fault; after it every
 * read is harmless, so a parser needs to look at `fault` only where it would go on for ever.
 */
import { MOST_STEPS } from "./fields";
import { PathStep, QueryFault } from "./tree";
import { digitsEnd } from "./values";

const QUOTE: i32 = 0x22;
export const OPEN: i32 = 0x28;
export const CLOSE: i32 = 0x29;
export const COMMA: i32 = 0x2c;
const DOT: i32 = 0x2e;
const OPEN_STEP: i32 = 0x5b;
const CLOSE_STEP: i32 = 0x5d;

/** Longer ones before those that they begin with. */
const operators: string[] = ["!=", "<=", ">=", "<", ">", ":", "="];

export class QueryReader {
  pos: i32 = 0;
  fault: QueryFault | null = null;

  constructor(public text: string) {}

  fail(at: i32, end: i32, message: string, suggestion: string | null = null): void {
    if (!this.fault) this.fault = new QueryFault(at, end, message, suggestion, false);
  }

  tooWide(at: i32, end: i32, message: string): void {
    if (!this.fault) this.fault = new QueryFault(at, end, message, null, true);
  }

  /** The character at a place, 0 behind the end. */
  at(pos: i32): i32 {
    return pos < this.text.length ? this.text.charCodeAt(pos) : 0;
  }

  get char(): i32 {
    return this.at(this.pos);
  }

  get ended(): bool {
    return this.pos >= this.text.length;
  }

  /** At the end of the text or of a bracket. */
  get closed(): bool {
    return this.ended || this.char === CLOSE;
  }

  skipSpace(): void {
    while (!this.ended && isSpace(this.char)) this.pos++;
  }

  wordEnd(): i32 {
    let end = this.pos;
    while (end < this.text.length && !isWordEnd(this.text.charCodeAt(end))) end++;
    return end;
  }

  word(): string {
    const at = this.pos;
    this.pos = this.wordEnd();
    return this.text.substring(at, this.pos);
  }

  /** `and`, `or`, `not` where one begins here, unread; else "". */
  keyword(): string {
    const length = this.wordEnd() - this.pos;
    if (length < 2 || length > 3) return "";
    let word = "";
    for (let i = 0; i < length; i++) word += String.fromCharCode(this.at(this.pos + i) | 0x20);
    return word === "and" || word === "or" || word === "not" ? word : "";
  }

  nameEnd(): i32 {
    let end = this.pos;
    while (isNameLetter(this.at(end))) end++;
    return end;
  }

  /** A text in quotes, in which a backslash takes the next character as it is. */
  string(): string {
    const at = this.pos;
    let text = "";
    for (this.pos++; this.char !== QUOTE || this.ended; this.pos++) {
      if (this.char === 0x5c) this.pos++;
      if (this.ended) {
        const end = this.text.length;
        this.pos = end;
        this.fail(end, end, `the quote at character ${at + 1} is never closed`, '"');
        return text;
      }
      text += this.text.charAt(this.pos);
    }
    this.pos++;
    return text;
  }

  isQuote(): bool {
    return this.char === QUOTE;
  }

  operatorAt(pos: i32): string {
    for (let i = 0; i < operators.length; i++) {
      if (this.text.startsWith(operators[i], pos)) return operators[i];
    }
    return "";
  }

  isStepAt(pos: i32): bool {
    return this.at(pos) === DOT || this.at(pos) === OPEN_STEP;
  }

  path(): PathStep[] {
    const steps: PathStep[] = [];
    while (this.isStepAt(this.pos) && !this.fault) {
      const at = this.pos;
      steps.push(this.char === DOT ? this.member() : this.element());
      if (steps.length > MOST_STEPS) {
        this.tooWide(at, this.pos, `a path may have ${MOST_STEPS} steps at most`);
      }
    }
    return steps;
  }

  private member(): PathStep {
    const at = this.pos++;
    if (this.char === QUOTE) return new PathStep(this.string(), -1);
    const start = this.pos;
    while (!this.ended && !isStepEnd(this.char)) this.pos++;
    if (this.pos === start) this.fail(at, this.pos, 'a name is missing behind "."');
    return new PathStep(this.text.substring(start, this.pos), -1);
  }

  private element(): PathStep {
    const at = this.pos++;
    const digits = this.text.substring(this.pos, digitsEnd(this.text, this.pos));
    this.pos += digits.length;
    if (digits.length === 0 || digits.length > 9 || this.char !== CLOSE_STEP) {
      this.fail(at, this.pos, 'an element is a number in brackets, as in "[0]"');
      return new PathStep("", 0);
    }
    this.pos++;
    return new PathStep("", I32.parseInt(digits, 10));
  }
}

export function isSpace(c: i32): bool {
  return c === 0x20 || (c >= 0x09 && c <= 0x0d) || c === 0xa0;
}

function isNameLetter(c: i32): bool {
  return (c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a) || c === 0x5f;
}

function isWordEnd(c: i32): bool {
  return isSpace(c) || c === QUOTE || c === OPEN || c === CLOSE || c === COMMA;
}

function isStepEnd(c: i32): bool {
  return isWordEnd(c) || ".[]:=<>!".includes(String.fromCharCode(c));
}

/** The first character that cannot be stored, or -1. */
export function badCharacter(text: string): i32 {
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === 0) return at;
    if (c < 0xd800 || c > 0xdfff) continue;
    const next = at + 1 < text.length ? text.charCodeAt(at + 1) : 0;
    if (c > 0xdbff || next < 0xdc00 || next > 0xdfff) return at;
    at++;
  }
  return -1;
}
