// Which characters a query is made of. The client has the same tables (ui/assembly/query).

export const isSpace = (c: number) => c === 0x20 || (c >= 0x09 && c <= 0x0d) || c === 0xa0;

export const isDigit = (c: number) => c >= 0x30 && c <= 0x39;

/** Letters and `_`: what a field's name is made of. */
export const isNameLetter = (c: number) =>
  (c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a) || c === 0x5f;

const QUOTE = 0x22;
const OPEN = 0x28;
const CLOSE = 0x29;
const COMMA = 0x2c;

/** A word ends before white space, a quote, a round bracket and a comma. */
export const isWordEnd = (c: number) =>
  isSpace(c) || c === QUOTE || c === OPEN || c === CLOSE || c === COMMA;

/** Where a step of a path ends: at the next step, an operator, or the word's end. */
export const isStepEnd = (c: number) => isWordEnd(c) || ".[]:=<>!".includes(String.fromCharCode(c));

/** The first character that PostgreSQL could not hold, or -1: NUL, half a surrogate pair. */
export function badCharacter(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === 0) return at;
    if (c < 0xd800 || c > 0xdfff) continue;
    const next = text.charCodeAt(at + 1);
    if (c > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return at;
    at++;
  }
  return -1;
}
