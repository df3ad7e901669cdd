/**
 * Text from elsewhere as it is shown: characters that are invisible or change the writing direction become codes such
 * as `\u202e`. Selected text is copied with these codes. Shell commands have octal bytes instead (shell-word.ts).
 */
import { isHidden, pointAt } from "../../../src/domain/portable/shell-word";

/**
 * Returns the visible form. Line breaks and tabs stay if `multiline`. node.ts passes every text that is drawn through
 * this function.
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

/** Returns four hexadecimal digits, with zeros in front, which `toString(16)` does not write. */
function hex(unit: i32): string {
  let digits = "";
  for (let shift = 12; shift >= 0; shift -= 4)
    digits += "0123456789abcdef".charAt((unit >> shift) & 15);
  return digits;
}
