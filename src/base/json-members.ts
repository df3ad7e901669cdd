// Reads a JSON object without touching its values: each top-level member keeps its exact text, so
// that payloads pass byte for byte and 64-bit ids are never rounded. The grammar itself is checked by
// JSON.parse; this file only finds where members begin and end in text that is known to be valid.
import { InputError } from "./errors.ts";

/** Deeper nesting than anybody writes; keeps every recursive reader behind us safe. */
const MAX_DEPTH = 200;

/** Name → exact text of the value. Throws InputError when the body is not one plain JSON object. */
export function jsonMembers(text: string): Map<string, string> {
  checkDepth(text);
  if (!isObject(parsed(text))) throw new InputError("the body must be a JSON object");
  const members = new Map<string, string>();
  for (const part of parts(text)) {
    // The name is the string before the first colon outside it.
    const end = skipString(part, 0);
    const name = JSON.parse(part.slice(0, end)) as string;
    if (members.has(name)) {
      throw new InputError([{ path: shortened(name), message: "is there more than once" }]);
    }
    members.set(name, part.slice(part.indexOf(":", end) + 1).trim());
  }
  return members;
}

/** The exact texts of a JSON array's elements, or null when `text` (valid JSON) is no array. */
export function jsonElements(text: string): string[] | null {
  return text.startsWith("[") ? [...parts(text)] : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // V8's message quotes the body; the position is of little use to a person and none to a program.
    const hint = text.trim() === "" ? "it is empty" : "check its quotes, commas and brackets";
    throw new InputError(`the body is not JSON: ${hint}`);
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

const isOpening = (code: number) => code === 0x7b || code === 0x5b;
const isClosing = (code: number) => code === 0x7d || code === 0x5d;

/** The comma-separated parts between the outermost brackets, trimmed; none when they are empty. */
function* parts(text: string): Generator<string> {
  let depth = 0;
  let start = -1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at) - 1;
    } else if (isOpening(code)) {
      depth += 1;
      if (depth === 1) start = at + 1;
    } else if (isClosing(code)) {
      depth -= 1;
      if (depth === 0) {
        const last = text.slice(start, at).trim();
        if (last !== "") yield last;
        return;
      }
    } else if (code === COMMA && depth === 1) {
      yield text.slice(start, at).trim();
      start = at + 1;
    }
  }
}

/** The position after the string that begins at `start`. */
function skipString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length + 1 : end + 1;
}

/** An odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}

function checkDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at) - 1;
    else if (isOpening(code)) depth += 1;
    else if (isClosing(code)) depth -= 1;
    if (depth > MAX_DEPTH) {
      throw new InputError(`the body is nested deeper than ${MAX_DEPTH} levels`);
    }
  }
}

function shortened(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 64)}…`;
}
