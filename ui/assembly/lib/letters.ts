/**
 * Upper and lower case of ASCII letters, and the replacement of a part of a text. AssemblyScript's own functions are
 * not used. Its functions for upper and lower case support all of Unicode, which adds 12 KB to the program. Its
 * `replaceAll` may write a long replacement past the end of the result's memory, because for each match it at most
 * doubles this memory.
 */

export function lower(text: string): string {
  return shifted(text, 0x41, 0x5a, 0x20);
}

export function upper(text: string): string {
  return shifted(text, 0x61, 0x7a, -0x20);
}

/** Whether the character is one of A–Z or a–z. */
export function isLetter(c: i32): bool {
  const small = c | 0x20;
  return small >= 0x61 && small <= 0x7a;
}

/** Returns the text with another text in place of each occurrence of a part. */
export function replaced(text: string, part: string, by: string): string {
  return text.split(part).join(by);
}

function shifted(text: string, first: i32, last: i32, by: i32): string {
  const units = new StaticArray<u16>(text.length);
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    units[i] = <u16>(c >= first && c <= last ? c + by : c);
  }
  return String.UTF16.decodeUnsafe(changetype<usize>(units), (<usize>text.length) << 1);
}
