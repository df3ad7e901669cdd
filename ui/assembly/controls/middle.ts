/** Texts that are cut in the middle if they do not fit, because names often differ only at their ends. */
import { attr, box, cls, el, leaf, Node, nothing, text } from "../lib/node";

/** The least length of a text that is cut in its middle. */
const SHORTEST = 16;
/** The number of letters after the cut in a monospaced font. A wide letter counts as two. */
const TAIL = 8;
/** The room for the text after the cut in a proportional font, in hundredths of an em. Equals `--tail` in the CSS. */
const ROOM = 600;
/** The least number of letters before the cut. */
const HEAD = 4;

/** Returns the content of an element with the class `mid`. */
export function middle(before: Node, content: string, isMono: bool = false): Node[] {
  const at = tailOf(content, isMono);
  if (at === 0) return [before, text(content)];
  const head = box("span", "head", [before, text(content.substring(0, at))]);
  return [head, leaf("span", "tail", content.substring(at))];
}

/** Returns a span with the text, which is shown whole on hover. */
export function cutText(content: string, className: string): Node {
  const attrs = [cls(className + " mid"), attr("title", content)];
  return el("span", attrs, middle(nothing, content));
}

/**
 * Returns the index of the first letter after the cut. Returns 0 if the text is not cut in its middle: it is too short,
 * or letters near its end may be written from right to left.
 */
function tailOf(content: string, isMono: bool): i32 {
  const length = content.length;
  if (length < SHORTEST) return 0;
  const last = isMono ? length - TAIL : HEAD - 1;
  const each = ROOM / TAIL;
  let at = length;
  for (let room = ROOM; at > last; ) {
    let start = at - 1;
    const c = content.charCodeAt(start);
    if ((c >= 0x590 && c < 0x900) || (c >= 0xfb1d && c < 0xff00)) return 0;
    // The two halves of a surrogate pair stay together.
    if ((c & 0xfc00) === 0xdc00) start--;
    room -= isMono ? (c < 0x1100 ? each : 2 * each) : widthOf(c);
    if (room < 0) break;
    at = start;
  }
  return at < HEAD ? 0 : at;
}

/** Returns an upper limit of the letter's width in the page's bold font, in hundredths of an em. */
function widthOf(c: i32): i32 {
  if (c >= 0x1100) return 130;
  if (c >= 0x7f) return 80;
  const letter = String.fromCharCode(c);
  if (" ,.:;Iijl".includes(letter)) return 28;
  if ("!'()/[\\]`frt{|}".includes(letter)) return 42;
  if ("%@MWmw".includes(letter)) return c === 0x6d || c === 0x77 ? 90 : 104;
  if (c === 0x5f) return 48;
  return c >= 0x61 && c <= 0x7a ? 63 : c >= 0x41 && c <= 0x5a ? 77 : 66;
}
