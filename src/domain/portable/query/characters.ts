// The characters that have a meaning in a query, or end a part of it, or are invalid.

export const QUOTE: i32 = 0x22;
export const OPEN: i32 = 0x28;
export const CLOSE: i32 = 0x29;
export const STAR: i32 = 0x2a;
export const COMMA: i32 = 0x2c;
export const MINUS: i32 = 0x2d;
export const DOT: i32 = 0x2e;
export const OPEN_STEP: i32 = 0x5b;
export const BACKSLASH: i32 = 0x5c;
export const CLOSE_STEP: i32 = 0x5d;

export function isSpace(c: i32): bool {
  return c === 0x20 || (c >= 0x09 && c <= 0x0d) || c === 0xa0;
}

/** Whether the character may be in the name of a field: letters and `_`. */
export function isNameLetter(c: i32): bool {
  return (c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a) || c === 0x5f;
}

/** Whether a word ends before this character: white space, a quote, a round bracket or a comma. */
export function isWordEnd(c: i32): bool {
  return isSpace(c) || c === QUOTE || c === OPEN || c === CLOSE || c === COMMA;
}

/** Whether a step of a path ends before this character: the end of a word, a dot, a square bracket or an operator. */
export function isStepEnd(c: i32): bool {
  return isWordEnd(c) || ".[]:=<>!".includes(String.fromCharCode(c));
}

/**
 * Returns the place of the first character that PostgreSQL cannot store (NUL or half a surrogate pair); -1 if there is
 * none.
 */
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
