/** Parses whole numbers, formats numbers and sizes for users, such as `12,345` or `12 KB`, and sorts by numbers. */
import { groupDigits, isDigit } from "../../../src/domain/portable/digits";

export class ParsedInteger {
  constructor(
    readonly valid: bool,
    readonly value: i64,
  ) {}
}

/** Parses an optional minus sign and digits. Any other text is invalid, and so is a number beyond 64 bits. */
export function parseWhole(text: string): ParsedInteger {
  const negative = text.startsWith("-");
  const limit: u64 = negative ? 0x8000000000000000 : 0x7fffffffffffffff;
  const start = negative ? 1 : 0;
  let value: u64 = 0;
  for (let i = start; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const digit = <u64>(c - 0x30);
    if (!isDigit(c) || value > (limit - digit) / 10) return new ParsedInteger(false, 0);
    value = value * 10 + digit;
  }
  return new ParsedInteger(text.length > start, negative ? -(<i64>value) : <i64>value);
}

/** Returns a number such as `12,345`. */
export function numberText(value: i64): string {
  return groupDigits(value.toString());
}

/** Returns `3 of 1,200`. */
export function partText(part: i64, all: i64): string {
  return numberText(part) + " of " + numberText(all);
}

/** Returns `1 job` or `12,345 jobs`. */
export function countText(count: i64, one: string, many: string): string {
  return numberText(count) + " " + (count === 1 ? one : many);
}

/** Returns an approximate size: `814 B`, `12 KB`, `1.2 MB`, `21 GB`. */
export function bytes(count: i64): string {
  if (count < 1024) return `${count} B`;
  if (count < 1048576) return `${(count + 512) / 1024} KB`;
  const isLarge = count >= 1073741824;
  const unit: i64 = isLarge ? 1073741824 : 1048576;
  const tenths = (count * 10 + unit / 2) / unit;
  const whole = numberText(tenths / 10);
  const digits = tenths >= 100 || tenths % 10 === 0 ? whole : `${whole}.${tenths % 10}`;
  return digits + (isLarge ? " GB" : " MB");
}

/** Returns the approximate size, in UTF-8, of the part of `text` from the index `from` to the index before `end`. */
export function bytesOf(text: string, from: i32, end: i32): string {
  let count = 0;
  for (let i = from; i < end; i++) {
    const c = text.charCodeAt(i);
    // A surrogate pair has four bytes in UTF-8, so each half of the pair counts as two.
    count += c < 0x80 ? 1 : c < 0x800 || c >> 11 === 0x1b ? 2 : 3;
  }
  return bytes(count);
}

/**
 * Sorts a short list and its keys by the keys, the least key first. Items with equal keys keep their order.
 * AssemblyScript's own sort would add half a kilobyte to the module.
 */
export function sortByKeys<T>(items: T[], keys: f64[]): void {
  for (let i = 1; i < items.length; i++) {
    const item = items[i];
    const key = keys[i];
    let at = i;
    for (; at > 0 && keys[at - 1] > key; at--) {
      items[at] = items[at - 1];
      keys[at] = keys[at - 1];
    }
    items[at] = item;
    keys[at] = key;
  }
}
