// Splits a JSON object into its members, or an array into its elements. Each value keeps its exact text, so that
// payloads stay unchanged and 64-bit ids are not rounded.
import { InputError } from "./errors.ts";

/** Limits the nesting, so that recursive code has enough stack. */
const MAX_DEPTH = 200;

/**
 * Returns the exact texts of the members' values, by name. Throws InputError if the text is not a JSON object, if two
 * members have the same name, or if the nesting is deeper than MAX_DEPTH.
 */
export function jsonMembers(text: string): Map<string, string> {
  checkDepth(text);
  if (!isObject(parse(text))) throw new InputError("the body must be a JSON object");
  const members = new Map<string, string>();
  for (const part of parts(text)) {
    // A part is the name in quotes, a colon and the value.
    const end = skipString(part, 0);
    const name = JSON.parse(part.slice(0, end)) as string;
    if (members.has(name)) {
      throw new InputError([{ path: shorten(name), message: "occurs more than once" }]);
    }
    members.set(name, part.slice(part.indexOf(":", end) + 1).trim());
  }
  return members;
}

/** Returns the exact texts of the elements; null if `text` is not an array. `text` must be valid, trimmed JSON. */
export function jsonElements(text: string): string[] | null {
  return text.startsWith("[") ? [...parts(text)] : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // V8's message is not used, because it quotes the body.
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

/** Yields the comma-separated parts between the outermost brackets of valid JSON, trimmed. */
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

/** Returns the position after the string that begins at `start`. */
function skipString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length + 1 : end + 1;
}

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

function shorten(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 64)}…`;
}
