/** Lays out JSON text with line breaks and indentation. Each token stays as it was written. */
import { BACKSLASH, QUOTE } from "./json-scanner";

const INDENT = 2;
/** The largest indentation, in spaces. */
const MAX_INDENT = 60;

/** The beginning of a laid-out text, and the position in the JSON text at which this beginning ends. */
export class Layout {
  constructor(
    readonly text: string,
    readonly end: i32,
  ) {}
}

/**
 * Lays out valid JSON from its beginning, until the layout has `most` UTF-16 units or a few more. Invalid JSON causes
 * no error, but its layout makes no sense.
 */
export function laidOut(json: string, most: i32): Layout {
  const size = most + 2 * MAX_INDENT * INDENT + 2;
  const out = new StaticArray<u16>(size);
  let at = 0;
  let depth = 0;
  let inString = false;
  let i = 0;
  for (; i < json.length && at < most; i++) {
    const c = json.charCodeAt(i);
    if (inString) {
      out[at++] = <u16>c;
      if (c === BACKSLASH && i + 1 < json.length) out[at++] = <u16>json.charCodeAt(++i);
      else if (c === QUOTE) inString = false;
      continue;
    }
    if (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) continue;
    const opens = c === 0x7b || c === 0x5b;
    const closes = c === 0x7d || c === 0x5d;
    if (closes) {
      depth--;
      if (at > 0 && out[at - 1] !== 0x7b && out[at - 1] !== 0x5b) at = breakLine(out, at, depth);
    } else if (at > 0 && (out[at - 1] === 0x7b || out[at - 1] === 0x5b)) {
      at = breakLine(out, at, depth);
    }
    out[at++] = <u16>c;
    inString = c === QUOTE;
    if (opens) depth++;
    else if (c === 0x2c) at = breakLine(out, at, depth);
    else if (c === 0x3a) out[at++] = 0x20;
  }
  return new Layout(String.UTF16.decodeUnsafe(changetype<usize>(out), (<usize>at) << 1), i);
}

function breakLine(out: StaticArray<u16>, at: i32, depth: i32): i32 {
  out[at++] = 0x0a;
  for (let i = 0; i < min(max(depth, 0) * INDENT, MAX_INDENT); i++) out[at++] = 0x20;
  return at;
}
