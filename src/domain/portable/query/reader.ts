// Reads the words, quoted texts, operators and paths of a query. Only the first fault is stored. After a fault,
// reading on is harmless, except in a loop that might not terminate. Such a loop must end at a fault.
import { digitsAt, digitsEnd } from "../digits.ts";
import {
  BACKSLASH,
  CLOSE,
  CLOSE_STEP,
  DOT,
  isNameLetter,
  isSpace,
  isStepEnd,
  isWordEnd,
  OPEN_STEP,
  QUOTE,
} from "./characters.ts";
import { MAX_STEPS } from "./limits.ts";
import { ParsedStep, QueryFault } from "./tree.ts";

/** Longer operators precede their own prefixes, so that operatorAt() finds the longest. */
export const operators: string[] = ["!=", "<=", ">=", "<", ">", ":", "="];

export class QueryReader {
  text: string;
  pos: i32 = 0;
  fault: QueryFault | null = null;

  constructor(text: string) {
    this.text = text;
  }

  fail(at: i32, end: i32, message: string, suggestion: string | null = null): void {
    if (this.fault === null) this.fault = new QueryFault(at, end, message, suggestion, false);
  }

  tooWide(at: i32, end: i32, message: string): void {
    if (this.fault === null) this.fault = new QueryFault(at, end, message, null, true);
  }

  /** Returns the code of the character at `pos`, or 0 after the end. */
  at(pos: i32): i32 {
    return pos < this.text.length ? this.text.charCodeAt(pos) : 0;
  }

  get char(): i32 {
    return this.at(this.pos);
  }

  get ended(): bool {
    return this.pos >= this.text.length;
  }

  /** Whether the text ends here, or the next character is `)`. */
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

  /** Returns the keyword `and`, `or` or `not` at this place, in lower case, without consuming it; otherwise "". */
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

  /** Reads a quoted text, in which a backslash escapes the next character. */
  string(): string {
    const at = this.pos;
    let text = "";
    for (this.pos++; this.char !== QUOTE || this.ended; this.pos++) {
      if (this.char === BACKSLASH) this.pos++;
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

  operatorAt(pos: i32): string {
    for (let i = 0; i < operators.length; i++) {
      if (this.text.startsWith(operators[i]!, pos)) return operators[i]!;
    }
    return "";
  }

  isStepAt(pos: i32): bool {
    return this.at(pos) === DOT || this.at(pos) === OPEN_STEP;
  }

  path(): ParsedStep[] {
    const steps: ParsedStep[] = [];
    while (this.isStepAt(this.pos) && this.fault === null) {
      const at = this.pos;
      steps.push(this.char === DOT ? this.member() : this.element());
      if (steps.length > MAX_STEPS) {
        this.tooWide(at, this.pos, `a path may have ${MAX_STEPS} steps at most`);
      }
    }
    return steps;
  }

  private member(): ParsedStep {
    const at = this.pos++;
    if (this.char === QUOTE) return new ParsedStep(this.string(), -1);
    const start = this.pos;
    while (!this.ended && !isStepEnd(this.char)) this.pos++;
    if (this.pos === start) this.fail(at, this.pos, 'a name is missing after "."');
    return new ParsedStep(this.text.substring(start, this.pos), -1);
  }

  private element(): ParsedStep {
    const at = this.pos++;
    const start = this.pos;
    this.pos = digitsEnd(this.text, start);
    const count = this.pos - start;
    if (count === 0 || count > 9 || this.char !== CLOSE_STEP) {
      this.fail(at, this.pos, 'an element is a number in brackets, as in "[0]"');
      return new ParsedStep("", 0);
    }
    this.pos++;
    return new ParsedStep("", digitsAt(this.text, start, count));
  }
}
