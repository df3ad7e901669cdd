// Reads the values in a query. The meaning of a value depends on the field: `1d` is an age for `created` and a name for
// `task`.
import { QUOTE, STAR } from "./characters.ts";
import { FilterField, groupWords, isOrder } from "./fields.ts";
import { MAX_TEXT_LENGTH, MIN_SEARCH_LENGTH } from "./limits.ts";
import { nearest } from "./nearest.ts";
import { QueryReader } from "./reader.ts";
import { ParsedNode, ParsedValue } from "./tree.ts";
import { ageSeconds, isInteger, isNumber, isTime } from "./values.ts";

/** Reads the values of one term, after its operator. */
export class ValueReader {
  private reader: QueryReader;
  private term: ParsedNode;
  private field: FilterField;
  private conditions: string[];
  private kind: string;
  private hasPath: bool;
  private opAt: i32;

  constructor(reader: QueryReader, term: ParsedNode, field: FilterField, conditions: string[]) {
    this.reader = reader;
    this.term = term;
    this.field = field;
    this.conditions = conditions;
    this.kind = field.kind;
    this.hasPath = term.path.length > 0;
    this.opAt = reader.pos - term.op.length;
  }

  read(): ParsedValue {
    const reader = this.reader;
    const at = reader.pos;
    if (reader.char === QUOTE) {
      const text = reader.string();
      const prefix = reader.char === STAR;
      if (prefix) reader.pos++;
      const value = new ParsedValue("text", text, at, reader.pos);
      value.isQuoted = true;
      value.isPrefix = prefix;
      return this.check(value);
    }
    const word = reader.word();
    if (word.length === 0) {
      const before = reader.text.charAt(at - 1);
      reader.fail(at, reader.pos, `a value is missing right after "${before}"`);
    }
    if (word === "none" && this.field.hasNone(this.hasPath)) {
      if (isOrder(this.term.op)) this.failOp('"none" needs ":" or "!="', ":");
      return new ParsedValue("none", "", at, reader.pos);
    }
    return this.readTyped(word, at);
  }

  private readTyped(word: string, at: i32): ParsedValue {
    const isJson = this.kind === "json" && this.hasPath;
    if (isJson || this.kind === "integer" || this.kind === "moment") {
      const value = this.readRange(word, at);
      if (value !== null) return value;
    }
    const prefix = word.endsWith("*");
    const text = prefix ? word.substring(0, word.length - 1) : word;
    const value = new ParsedValue("text", text, at, at + word.length);
    value.isPrefix = prefix;
    return this.check(value);
  }

  private readRange(word: string, at: i32): ParsedValue | null {
    const dots = word.indexOf("..");
    if (dots < 0) {
      const value = this.end(word, at);
      if (value !== null) this.checkPoint(value);
      return value;
    }
    const low = this.end(word.substring(0, dots), at);
    const high = this.end(word.substring(dots + 2), at + dots + 2);
    if (low === null || high === null) return null;
    if (isOrder(this.term.op)) this.failOp('a range needs ":"', ":");
    const range = new ParsedValue("range", "", at, at + word.length);
    range.low = low;
    range.high = high;
    return range;
  }

  /**
   * Reads one end of a range, or a single value. Returns null if the field is `payload` and `text` is not a number:
   * the caller then reads the whole word as a text.
   */
  private end(text: string, at: i32): ParsedValue | null {
    const end = at + text.length;
    if (this.kind === "moment") {
      if (ageSeconds(text) >= 0) return new ParsedValue("age", text, at, end);
      if (!isTime(text)) this.failMoment(at, end);
      return new ParsedValue("time", text, at, end);
    }
    if (this.kind === "integer") {
      if (!isInteger(text)) this.failInteger(at, end);
    } else if (!isNumber(text)) return null;
    return new ParsedValue("number", text, at, end);
  }

  /**
   * Refuses an age such as `1h`, or `now`, as a single value unless the operator is `<`, `<=`, `>` or `>=`. Both are
   * exact to the microsecond, as the times of jobs are, so almost no job would have exactly this time.
   */
  private checkPoint(value: ParsedValue): void {
    const point = value.kind === "age" || value.text === "now";
    if (this.kind !== "moment" || !point || isOrder(this.term.op)) return;
    const field = this.field.name;
    this.failOp(`"${field}" needs "<" or ">" here, or a range such as ${field}:1h..2h`, "<");
  }

  private check(value: ParsedValue): ParsedValue {
    const reader = this.reader;
    if (this.kind === "integer") this.failInteger(value.at, value.end);
    if (this.kind === "moment") this.failMoment(value.at, value.end);
    if (value.text.length > MAX_TEXT_LENGTH) {
      const message = `a text may have ${MAX_TEXT_LENGTH} characters at most`;
      reader.tooWide(value.at, value.end, message);
    }
    if (this.kind === "word") {
      this.checkWord(value);
      return value;
    }
    const named = this.kind === "name" || (this.kind === "json" && this.hasPath);
    if (value.isPrefix && (!named || isOrder(this.term.op))) {
      const message = `"*" cannot be used with "${this.field.name}" here; put it in quotes to find the character`;
      reader.fail(value.end - 1, value.end, message, "");
    }
    if (value.isPrefix && value.text.length === 0) {
      reader.fail(value.at, value.end, 'a beginning is missing before "*"');
    }
    if (this.field.isSearched(this.term.op, this.hasPath)) {
      checkSearch(reader, value.text, value.at, value.end);
    }
    return value;
  }

  private checkWord(value: ParsedValue): void {
    const words = this.conditions.concat(groupWords);
    if (!value.isPrefix && words.includes(value.text)) return;
    const name = nearest(value.text, words);
    const near = name.length > 0;
    const hint = near ? `, did you mean "${name}"?` : `; expected ${words.join(", ")}`;
    const message = `unknown condition "${value.text}"${hint}`;
    this.reader.fail(value.at, value.end, message, near ? name : null);
  }

  private failOp(message: string, suggestion: string): void {
    this.reader.fail(this.opAt, this.opAt + this.term.op.length, message, suggestion);
  }

  private failInteger(at: i32, end: i32): void {
    this.reader.fail(at, end, "a whole number is needed here, such as 5 or 5..9");
  }

  private failMoment(at: i32, end: i32): void {
    const times = "2026-01-31, 2026-01-31T08:00Z, now, today";
    this.reader.fail(at, end, `an age such as 2h is needed here, or a time: ${times}`);
  }
}

/** Reports a fault if `text` is shorter than MIN_SEARCH_LENGTH. Called for texts that match wherever they occur. */
export function checkSearch(reader: QueryReader, text: string, at: i32, end: i32): void {
  if (text.length >= MIN_SEARCH_LENGTH) return;
  const message = "one character matches nearly every job; search for a longer text";
  reader.tooWide(at, end, message);
}
