// Reads decimal digits in a text, and groups the digits of large numbers.

export function isDigit(c: i32): bool {
  return c >= 0x30 && c <= 0x39;
}

/** Returns the index after the digits that begin at `at`; `at` itself if there are none. */
export function digitsEnd(text: string, at: i32): i32 {
  let end = at;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  return end;
}

/**
 * Returns the number that is written in the `count` characters from `at` on; -1 if there are fewer characters, or if
 * one of them is not a digit. `count`: at most nine.
 */
export function digitsAt(text: string, at: i32, count: i32): i32 {
  if (at + count > text.length) return -1;
  let value: i32 = 0;
  for (let i = at; i < at + count; i++) {
    const c = text.charCodeAt(i);
    if (!isDigit(c)) return -1;
    value = value * 10 + (c - 0x30);
  }
  return value;
}

/** Returns the digits with commas between groups of three, as in `12,345`. A minus sign may precede the digits. */
export function groupDigits(digits: string): string {
  const start = digits.startsWith("-") ? 1 : 0;
  let out = digits;
  for (let i = digits.length - 3; i > start; i -= 3) {
    out = `${out.substring(0, i)},${out.substring(i)}`;
  }
  return out;
}
