/** A text that is cut in its middle where it is too long: often only the ends of names differ. */
import { box, leaf, Node, text } from "../lib/node";

/** Shorter ones are kept whole, or cut at their end. */
const SHORTEST = 16;
/** How many letters of the end are kept. */
const TAIL = 8;

/** The content of an element with the class `mid`; `before` belongs to the part that is cut. */
export function middle(before: Node, content: string): Node[] {
  const at = tailOf(content);
  if (at === 0) return [before, text(content)];
  const head = box("span", "head", [before, text(content.substring(0, at))]);
  return [head, leaf("span", "tail", content.substring(at))];
}

/** Where the end begins; 0 where there is none, as in writing from right to left. */
function tailOf(content: string): i32 {
  let at = content.length;
  if (at < SHORTEST) return 0;
  for (let room = TAIL; room > 0; room--) {
    const c = content.charCodeAt(--at);
    if ((c >= 0x590 && c < 0x900) || (c >= 0xfb1d && c < 0xff00)) return 0;
    // Letters of double width.
    if (c >= 0x1100) room--;
    // The second half of a pair.
    if ((c & 0xfc00) === 0xdc00) at--;
  }
  return at;
}
