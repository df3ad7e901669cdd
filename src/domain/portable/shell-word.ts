// Quotes a text as one word of a shell command, and recognises characters that are not visible. This file is compiled
// as TypeScript and as AssemblyScript. For TypeScript, types.d.ts declares AssemblyScript's types.

/**
 * Returns the word for a POSIX shell, quoted if necessary. A control or format character is written as the octal
 * bytes of its UTF-8, such as `$'\025'`, because a terminal into which the line is pasted would act on it or hide it.
 */
export function shellWord(word: string): string {
  let isPlain: bool = word.length > 0 && word.charCodeAt(0) !== 0x2d;
  for (let i: i32 = 0; isPlain && i < word.length; i++) isPlain = isPlainUnit(word.charCodeAt(i));
  return isPlain ? word : inQuotes(word);
}

function inQuotes(word: string): string {
  if (word.length === 0) return "''";
  let out = "";
  let isOpen: bool = false;
  for (let i: i32 = 0; i < word.length; i++) {
    const point = pointAt(word, i);
    if (isHidden(point)) {
      out += `${isOpen ? "'" : ""}$'${octalBytes(point)}'`;
      isOpen = false;
    } else {
      if (!isOpen) out += "'";
      isOpen = true;
      if (point > 0xffff) out += word.substring(i, i + 2);
      else out += point === 0x27 ? "'\\''" : String.fromCharCode(point);
    }
    if (point > 0xffff) i++;
  }
  return isOpen ? `${out}'` : out;
}

/** Whether the character needs no quotes: letters, digits and `:.,_/@+-`. */
function isPlainUnit(c: i32): bool {
  if (c >= 0x2b && c <= 0x3a) return true;
  return c === 0x40 || c === 0x5f || (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a);
}

/** Returns the code point that begins at `i`; U+FFFD for half a surrogate pair, as if the text were sent as UTF-8. */
export function pointAt(text: string, i: i32): i32 {
  const high = text.charCodeAt(i);
  if (high < 0xd800 || high > 0xdfff) return high;
  const low = i + 1 < text.length ? text.charCodeAt(i + 1) : 0;
  if (high > 0xdbff || low < 0xdc00 || low > 0xdfff) return 0xfffd;
  return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/** Whether the code point is a control, a format character, or a line or paragraph separator (Cc, Cf, Zl, Zp). */
export function isHidden(point: i32): bool {
  if (point < 0x20) return true;
  if (point < 0x7f) return false;
  if (point < 0xa0 || point === 0xad) return true;
  if (point < 0x600) return false;
  if (point < 0x2000) return isHiddenArabic(point) || point === 0x180e;
  if (point < 0x2070) return isHiddenMark(point);
  if (point === 0xfeff) return true;
  if (point >= 0xfff9 && point <= 0xfffb) return true;
  return point > 0xffff && isHiddenBeyond(point);
}

function isHiddenArabic(point: i32): bool {
  if (point <= 0x605 || point === 0x61c || point === 0x6dd || point === 0x70f) return true;
  return point === 0x890 || point === 0x891 || point === 0x8e2;
}

function isHiddenMark(point: i32): bool {
  if (point >= 0x200b && point <= 0x200f) return true;
  if (point >= 0x2028 && point <= 0x202e) return true;
  return point >= 0x2060 && point !== 0x2065;
}

function isHiddenBeyond(point: i32): bool {
  if (point === 0x110bd || point === 0x110cd || point === 0xe0001) return true;
  if (point >= 0x13430 && point <= 0x1343f) return true;
  if (point >= 0x1bca0 && point <= 0x1bca3) return true;
  if (point >= 0x1d173 && point <= 0x1d17a) return true;
  return point >= 0xe0020 && point <= 0xe007f;
}

function octalBytes(point: i32): string {
  if (point < 0x80) return octal(point);
  if (point < 0x800) return octal(0xc0 | (point >> 6)) + tail(point);
  if (point < 0x10000) return octal(0xe0 | (point >> 12)) + tail(point >> 6) + tail(point);
  return octal(0xf0 | (point >> 18)) + tail(point >> 12) + tail(point >> 6) + tail(point);
}

function tail(bits: i32): string {
  return octal(0x80 | (bits & 0x3f));
}

/** Returns the byte in octal, always with three digits, such as `\025`. */
function octal(byte: i32): string {
  return `\\${String.fromCharCode(0x30 + (byte >> 6), 0x30 + ((byte >> 3) & 7))}${String.fromCharCode(0x30 + (byte & 7))}`;
}
