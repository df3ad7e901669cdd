/**
 * Makes text from other sources safe to show: characters that are invisible or change the writing direction become
 * codes such as `\u202e`. A user who selects and copies the text gets these codes, too. In shell commands, such
 * characters are octal bytes instead (shell-word.ts).
 */
import { isHidden, pointAt } from "../../../src/domain/portable/shell-word";

/**
 * Returns the text with codes in place of invisible characters and of characters that change the writing direction.
 * `multiline`: line breaks and tabs are kept. node.ts calls this function for every text node, and for the attributes
 * `title` and `aria-label`.
 */
export function visible(text: string, multiline: bool): string {
  let from = 0;
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const point = pointAt(text, i);
    const units = point > 0xffff ? 2 : 1;
    if (isHidden(point) && !(multiline && (point === 0x0a || point === 0x09))) {
      out += text.substring(from, i);
      for (let n = 0; n < units; n++) out += "\\u" + hex(text.charCodeAt(i + n));
      from = i + units;
    }
    i += units - 1;
  }
  return from === 0 ? text : out + text.substring(from);
}

/** Returns the number as four hexadecimal digits. (`toString(16)` does not write leading zeros.) */
function hex(unit: i32): string {
  let digits = "";
  for (let shift = 12; shift >= 0; shift -= 4)
    digits += "0123456789abcdef".charAt((unit >> shift) & 15);
  return digits;
}
