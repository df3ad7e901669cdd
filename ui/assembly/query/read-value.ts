/** What a value means follows from its field: the same `1d` is an age to `created`, a name to `task`. */
import {
  FieldKind,
  hasNone,
  isOrder,
  isWords,
  kindOf,
  LONGEST_TEXT,
  nearest,
  SHORTEST_SEARCH,
} from "./fields";
import { QueryReader } from "./reader";
import { QueryNode, QueryValue, ValueKind } from "./tree";
import { isAge, isInteger, isNumber, isTime } from "./values";

const STAR: i32 = 0x2a;

/** Reads the values of one term, whose operator was just read. */
export class ValueReader {
  private readonly kind: FieldKind;
  private readonly hasPath: bool;
  private readonly opAt: i32;

  constructor(
    private readonly reader: QueryReader,
    private readonly term: QueryNode,
  ) {
    this.kind = kindOf(term.field);
    this.hasPath = term.path.length > 0;
    this.opAt = reader.pos - term.op.length;
  }

  read(): QueryValue {
    const reader = this.reader;
    const at = reader.pos;
    if (reader.isQuote()) {
      const text = reader.string();
      const prefix = reader.char === STAR;
      if (prefix) reader.pos++;
      const value = new QueryValue(ValueKind.Text, text, at, reader.pos);
      value.quoted = true;
      value.prefix = prefix;
      return this.checked(value);
    }
    const word = reader.word();
    if (word.length === 0) {
      const before = reader.text.charAt(at - 1);
      reader.fail(at, reader.pos, `a value is missing right behind "${before}"`);
    }
    if (word === "none" && hasNone(this.term.field, this.hasPath)) {
      if (isOrder(this.term.op)) this.failOp('nothing is "none" or not', ":");
      return new QueryValue(ValueKind.None, "", at, reader.pos);
    }
    return this.typed(word, at);
  }

  private typed(word: string, at: i32): QueryValue {
    const isJson = this.kind === FieldKind.Json && this.hasPath;
    if (isJson || this.kind === FieldKind.Integer || this.kind === FieldKind.Moment) {
      const value = this.ranged(word, at);
      if (value) return value;
    }
    const prefix = word.endsWith("*");
    const text = prefix ? word.substring(0, word.length - 1) : word;
    const value = new QueryValue(ValueKind.Text, text, at, at + word.length);
    value.prefix = prefix;
    return this.checked(value);
  }

  private ranged(word: string, at: i32): QueryValue | null {
    const dots = word.indexOf("..");
    if (dots < 0) {
      const value = this.end(word, at);
      if (value) this.checkPoint(value);
      return value;
    }
    const low = this.end(word.substring(0, dots), at);
    const high = this.end(word.substring(dots + 2), at + dots + 2);
    if (!low || !high) return null;
    if (isOrder(this.term.op)) this.failOp('a range goes with ":"', ":");
    const range = new QueryValue(ValueKind.Range, "", at, at + word.length);
    range.low = low;
    range.high = high;
    return range;
  }

  /** One end of a range, or a value alone. */
  private end(text: string, at: i32): QueryValue | null {
    const end = at + text.length;
    if (this.kind === FieldKind.Moment) {
      if (isAge(text)) return new QueryValue(ValueKind.Age, text, at, end);
      if (!isTime(text)) this.failMoment(at, end);
      return new QueryValue(ValueKind.Time, text, at, end);
    }
    if (this.kind === FieldKind.Integer) {
      if (!isInteger(text)) this.failInteger(at, end);
    } else if (!isNumber(text)) return null;
    return new QueryValue(ValueKind.Number, text, at, end);
  }

  /** To the microsecond nothing is an hour old. */
  private checkPoint(value: QueryValue): void {
    const point = value.kind === ValueKind.Age || value.text === "now";
    if (this.kind !== FieldKind.Moment || !point || isOrder(this.term.op)) return;
    const field = this.term.field;
    this.failOp(`"${field}" needs "<" or ">" here, or a range such as ${field}:1h..2h`, "<");
  }

  private checked(value: QueryValue): QueryValue {
    const reader = this.reader;
    const field = this.term.field;
    if (this.kind === FieldKind.Integer) this.failInteger(value.at, value.end);
    if (this.kind === FieldKind.Moment) this.failMoment(value.at, value.end);
    if (value.text.length > LONGEST_TEXT) {
      const message = `a text may have ${LONGEST_TEXT} characters at most`;
      reader.tooWide(value.at, value.end, message);
    }
    if (this.kind === FieldKind.Word) {
      this.checkWord(value);
      return value;
    }
    const named = this.kind === FieldKind.Name || (this.kind === FieldKind.Json && this.hasPath);
    if (value.prefix && (!named || isOrder(this.term.op))) {
      const message = `"*" does not go with "${field}" here; in quotes it is a character`;
      reader.fail(value.end - 1, value.end, message, "");
    }
    if (value.prefix && value.text.length === 0) {
      reader.fail(value.at, value.end, 'a beginning is missing before "*"');
    }
    const searched =
      field === "error" ? this.term.op === ":" : field === "payload" && !this.hasPath;
    if (searched) checkSearch(reader, value.text, value.at, value.end);
    return value;
  }

  private checkWord(value: QueryValue): void {
    if (!value.prefix && isWords.includes(value.text)) return;
    const name = nearest(value.text, isWords);
    const near = name.length > 0;
    const hint = near ? `, did you mean "${name}"?` : `: it is one of ${isWords.join(", ")}`;
    const message = `a job is never "${value.text}"${hint}`;
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

/** What is looked for anywhere needs some characters. */
export function checkSearch(reader: QueryReader, text: string, at: i32, end: i32): void {
  if (text.length >= SHORTEST_SEARCH) return;
  const message = "a text of one character is in nearly every job; give more of it";
  reader.tooWide(at, end, message);
}
