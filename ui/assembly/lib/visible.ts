/**
 * Text of others as it may be shown: what is invisible or turns the direction of writing stands there as
 * its code, `\u202e`. What is copied is never this.
 */

/** Line breaks and tabs stay when `multiline`. Every text that is drawn comes by here (node.ts). */
export function visible(text: string, multiline: bool): string {
  let from = 0;
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (!isHidden(c) || (multiline && (c === 0x0a || c === 0x09))) continue;
    out += text.substring(from, i) + "\\u" + c.toString(16).padStart(4, "0");
    from = i + 1;
  }
  return from === 0 ? text : out + text.substring(from);
}

/** Controls, zero-width characters, and those that turn the direction of writing. */
function isHidden(c: i32): bool {
  if (c < 0x20) return true;
  if (c < 0x7f) return false;
  return (
    c < 0xa0 ||
    c === 0xad ||
    c === 0x61c ||
    c === 0x180e ||
    (c >= 0x200b && c <= 0x200f) ||
    (c >= 0x2028 && c <= 0x202e) ||
    (c >= 0x2060 && c <= 0x206f) ||
    c === 0xfeff
  );
}
