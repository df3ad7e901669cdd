/**
 * Scans JSON text: white space, strings, numbers, words such as `null`. Nothing here throws, since in AssemblyScript a
 * throw is a trap that no code can catch. Only the first error is kept, with its position.
 */
import { isDigit } from "../../../src/domain/portable/digits";

export const QUOTE: i32 = 0x22;
export const BACKSLASH: i32 = 0x5c;
const MINUS: i32 = 0x2d;

export class JsonScanner {
  /** The first error; empty: none. */
  error: string = "";
  /** Where the first error was found, in UTF-16 units from the start. */
  errorAt: i32 = -1;
  protected pos: i32 = 0;
  /** Whether the last scanned string contains an escape. */
  protected escaped: bool = false;

  constructor(protected readonly text: string) {}

  get failed(): bool {
    return this.errorAt >= 0;
  }

  fail(message: string): void {
    if (this.failed) return;
    this.error = message;
    this.errorAt = this.pos;
  }

  protected at(index: i32): i32 {
    return index < this.text.length
      ? <i32>load<u16>(changetype<usize>(this.text) + ((<usize>index) << 1))
      : -1;
  }

  protected space(): void {
    let c = this.at(this.pos);
    while (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) c = this.at(++this.pos);
  }

  protected expect(char: i32): bool {
    if (this.failed) return false;
    if (this.at(this.pos) !== char) {
      this.fail("'" + String.fromCharCode(char) + "' was expected");
      return false;
    }
    this.pos++;
    return true;
  }

  protected word(word: string): bool {
    for (let i = 0; i < word.length; i++) {
      if (this.at(this.pos + i) !== word.charCodeAt(i)) {
        this.fail("'" + word + "' was expected");
        return false;
      }
    }
    this.pos += word.length;
    return true;
  }

  /** Checks a string, moves past its closing quote, and returns true; false if the string is invalid. */
  protected scanString(): bool {
    if (!this.expect(QUOTE)) return false;
    this.escaped = false;
    for (;;) {
      const c = this.at(this.pos);
      if (c === QUOTE) break;
      if (c < 0x20) {
        this.fail(c < 0 ? "the text ends inside a string" : "a control character in a string");
        return false;
      }
      this.pos++;
      if (c === BACKSLASH && !this.scanEscape()) return false;
    }
    this.pos++;
    return true;
  }

  protected scanNumber(): bool {
    if (this.at(this.pos) === MINUS) this.pos++;
    if (this.at(this.pos) === 0x30) this.pos++;
    else if (!this.digits()) return false;
    if (this.at(this.pos) === 0x2e) {
      this.pos++;
      if (!this.digits()) return false;
    }
    if ((this.at(this.pos) | 0x20) === 0x65) {
      this.pos++;
      const sign = this.at(this.pos);
      if (sign === MINUS || sign === 0x2b) this.pos++;
      if (!this.digits()) return false;
    }
    return true;
  }

  /**
   * Returns the text between two positions inside a scanned string. Escapes are decoded. `escaped`: whether the text
   * may contain escapes.
   */
  protected decode(start: i32, end: i32, escaped: bool): string {
    if (!escaped) return this.text.substring(start, end);
    const units = new StaticArray<u16>(end - start);
    let length = 0;
    for (let i = start; i < end; i++) {
      let c = this.at(i);
      if (c === BACKSLASH) {
        c = this.at(++i);
        if (c === 0x75) {
          c = this.unit(i + 1);
          i += 4;
        } else c = unescaped(c);
      }
      units[length++] = <u16>c;
    }
    return String.UTF16.decodeUnsafe(changetype<usize>(units), (<usize>length) << 1);
  }

  /**
   * Returns the UTF-16 unit that the four hexadecimal digits from `index` on represent; -1 if one of them is invalid.
   */
  private unit(index: i32): i32 {
    let value = 0;
    for (let i = index; i < index + 4; i++) {
      const digit = hexDigit(this.at(i));
      if (digit < 0) return -1;
      value = (value << 4) | digit;
    }
    return value;
  }

  private scanEscape(): bool {
    this.escaped = true;
    const c = this.at(this.pos);
    const length = c === 0x75 ? (this.unit(this.pos + 1) < 0 ? 0 : 5) : unescaped(c) < 0 ? 0 : 1;
    if (length === 0) this.fail("a bad escape in a string");
    this.pos += length;
    return length > 0;
  }

  private digits(): bool {
    const start = this.pos;
    while (isDigit(this.at(this.pos))) this.pos++;
    if (this.pos === start) this.fail("a digit was expected");
    return this.pos > start;
  }
}

export function hexDigit(c: i32): i32 {
  if (isDigit(c)) return c - 0x30;
  const lower = c | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function unescaped(c: i32): i32 {
  if (c === QUOTE || c === BACKSLASH || c === 0x2f) return c;
  if (c === 0x62) return 0x08;
  if (c === 0x66) return 0x0c;
  if (c === 0x6e) return 0x0a;
  if (c === 0x72) return 0x0d;
  return c === 0x74 ? 0x09 : -1;
}
