/**
 * A pull reader for JSON text: the caller reads the expected values in order. After the first error, every read returns
 * an empty value, and every loop over members ends. So a caller needs to check `failed` only once, at the end.
 */
import { isDigit } from "../../../src/domain/portable/digits";
import { JsonScanner, QUOTE } from "./json-scanner";
import { parseTime } from "./time";

/** The maximum depth of values that are read member by member. Each level needs a nested call. */
const MAX_RECORD_DEPTH = 200;
/** The maximum depth of a skipped or raw value. Each level needs only a byte. */
const MAX_SKIP_DEPTH = 65536;

const COMMA: i32 = 0x2c;
const OPEN_BRACE: i32 = 0x7b;
const CLOSE_BRACE: i32 = 0x7d;
const OPEN_BRACKET: i32 = 0x5b;
const CLOSE_BRACKET: i32 = 0x5d;

export const enum Kind {
  End,
  Object,
  Array,
  String,
  Number,
  True,
  False,
  Null,
}

export class JsonReader extends JsonScanner {
  private depth: i32 = 0;
  private keyStart: i32 = 0;
  private keyEnd: i32 = 0;
  private keyEscaped: bool = false;
  /** Whether the next member or item is the first one, which has no comma before it. */
  private fresh: bool = false;

  constructor(text: string) {
    super(text);
  }

  /** Returns the kind of the next value, which stays unread. */
  peek(): Kind {
    this.space();
    const c = this.at(this.pos);
    if (c === OPEN_BRACE) return Kind.Object;
    if (c === OPEN_BRACKET) return Kind.Array;
    if (c === QUOTE) return Kind.String;
    if (c === 0x2d || isDigit(c)) return Kind.Number;
    if (c === 0x74) return Kind.True;
    if (c === 0x66) return Kind.False;
    return c === 0x6e ? Kind.Null : Kind.End;
  }

  /** Returns where the next value begins, in UTF-16 units. */
  get offset(): i32 {
    this.space();
    return this.pos;
  }

  beginObject(): void {
    this.open(OPEN_BRACE);
  }

  /** Moves to the next member's value. Returns false at the object's end. */
  nextKey(): bool {
    if (this.nextMember(CLOSE_BRACE)) return this.scanKey();
    this.depth--;
    return false;
  }

  keyIs(name: string): bool {
    return this.keyIn(name, 0, name.length);
  }

  /** Whether the current key equals the part of a text from `start` to `end`. */
  keyIn(text: string, start: i32, end: i32): bool {
    if (this.keyEscaped) return this.key() === text.substring(start, end);
    const length = end - start;
    return (
      length === this.keyEnd - this.keyStart &&
      memory.compare(
        unitAt(this.text, this.keyStart),
        unitAt(text, start),
        (<usize>length) << 1,
      ) === 0
    );
  }

  key(): string {
    return this.decode(this.keyStart, this.keyEnd, this.keyEscaped);
  }

  beginArray(): void {
    this.open(OPEN_BRACKET);
  }

  /** Returns whether the array has another item. */
  nextItem(): bool {
    if (this.nextMember(CLOSE_BRACKET)) return true;
    this.depth--;
    return false;
  }

  /** If the next value is null, moves past it and returns true. */
  takeNull(): bool {
    return !this.failed && this.peek() === Kind.Null && this.word("null");
  }

  string(): string {
    this.space();
    const start = this.pos + 1;
    return this.scanString() ? this.decode(start, this.pos - 1, this.escaped) : "";
  }

  bool(): bool {
    if (this.failed) return false;
    if (this.peek() === Kind.True) return this.word("true");
    this.word("false");
    return false;
  }

  i64(): i64 {
    if (this.failed) return 0;
    this.space();
    const start = this.pos;
    if (!this.scanNumber()) return 0;
    const negative = this.at(start) === 0x2d;
    const limit: u64 = negative ? 0x8000000000000000 : 0x7fffffffffffffff;
    let value: u64 = 0;
    for (let i = negative ? start + 1 : start; i < this.pos; i++) {
      const c = this.at(i);
      const digit = <u64>(c - 0x30);
      if (!isDigit(c) || value > (limit - digit) / 10) {
        this.fail(isDigit(c) ? "the number is out of range" : "a whole number was expected");
        return 0;
      }
      value = value * 10 + digit;
    }
    return negative ? -(<i64>value) : <i64>value;
  }

  i32(): i32 {
    const value = this.i64();
    if (<i64>(<i32>value) === value) return <i32>value;
    this.fail("the number is out of range");
    return 0;
  }

  /** Returns any number, exact to about 15 digits. */
  f64(): f64 {
    if (this.failed) return 0;
    this.space();
    let i = this.pos;
    if (!this.scanNumber()) return 0;
    const negative = this.at(i) === 0x2d;
    let value: f64 = 0;
    let exponent = 0;
    let inFraction = false;
    if (negative) i++;
    for (; i < this.pos && (this.at(i) | 0x20) !== 0x65; i++) {
      if (this.at(i) === 0x2e) inFraction = true;
      else {
        value = value * 10 + <f64>(this.at(i) - 0x30);
        if (inFraction) exponent--;
      }
    }
    if (i < this.pos) exponent += this.exponentAt(i + 1);
    for (; exponent < 0 && value !== 0; exponent++) value /= 10;
    for (; exponent > 0 && value < Infinity; exponent--) value *= 10;
    return negative ? -value : value;
  }

  private exponentAt(start: i32): i32 {
    const negative = this.at(start) === 0x2d;
    let value = 0;
    for (let i = start; i < this.pos; i++) {
      if (isDigit(this.at(i))) value = min(value * 10 + (this.at(i) - 0x30), 400);
    }
    return negative ? -value : value;
  }

  /** Returns the milliseconds since 1970 of an RFC 3339 time. */
  time(): f64 {
    const value = parseTime(this.string());
    if (isNaN(value)) this.fail("a time was expected");
    return value;
  }

  /** Returns the text of the next value, checked but not decoded. */
  raw(): string {
    this.space();
    const start = this.pos;
    this.skip();
    return this.failed ? "" : this.text.substring(start, this.pos);
  }

  /** Checks one value of any kind and moves to its end. */
  skip(): void {
    let closers = new StaticArray<u8>(64);
    let depth = 0;
    while (!this.failed) {
      const kind = this.peek();
      if (kind === Kind.Object || kind === Kind.Array) {
        this.pos++;
        if (depth === MAX_SKIP_DEPTH) {
          this.fail("too deeply nested");
          return;
        }
        if (depth === closers.length) closers = StaticArray.concat(closers, closers);
        closers[depth++] = <u8>(kind === Kind.Object ? CLOSE_BRACE : CLOSE_BRACKET);
        this.fresh = true;
      } else this.scalar(kind);
      while (depth > 0 && !this.nextMember(closers[depth - 1]) && !this.failed) depth--;
      if (depth === 0) return;
      if (closers[depth - 1] === CLOSE_BRACE) this.scanKey();
    }
  }

  /** Checks that only white space is left. */
  end(): void {
    this.space();
    if (this.pos < this.text.length) this.fail("there is text after the value");
  }

  private scalar(kind: Kind): void {
    if (kind === Kind.String) this.scanString();
    else if (kind === Kind.Number) this.scanNumber();
    else if (kind === Kind.True) this.word("true");
    else if (kind === Kind.False) this.word("false");
    else if (kind === Kind.Null) this.word("null");
    else this.fail("a value was expected");
  }

  private scanKey(): bool {
    this.space();
    this.keyStart = this.pos + 1;
    if (!this.scanString()) return false;
    this.keyEnd = this.pos - 1;
    this.keyEscaped = this.escaped;
    this.space();
    return this.expect(0x3a);
  }

  private open(bracket: i32): void {
    this.space();
    if (!this.expect(bracket)) return;
    if (++this.depth > MAX_RECORD_DEPTH) this.fail("too deeply nested");
    this.fresh = true;
  }

  private nextMember(close: i32): bool {
    if (this.failed) return false;
    this.space();
    const first = this.fresh;
    this.fresh = false;
    if (this.at(this.pos) === close) {
      this.pos++;
      return false;
    }
    return first || this.expect(COMMA);
  }
}

function unitAt(text: string, at: i32): usize {
  return changetype<usize>(text) + ((<usize>at) << 1);
}

/** Returns the first fault in a text that should be one JSON value; empty if there is none. */
export function jsonFault(text: string): string {
  const r = new JsonReader(text);
  r.skip();
  r.end();
  if (!r.failed) return "";
  let line = 1;
  let column = 1;
  for (let i = 0; i < r.errorAt; i++) {
    column++;
    if (text.charCodeAt(i) === 0x0a) {
      line++;
      column = 1;
    }
  }
  return `${r.error} at offset ${r.errorAt} (line ${line}, column ${column})`;
}
