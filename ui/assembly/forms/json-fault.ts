/** Describes the first fault in JSON text. Offers to insert a missing comma or colon, or to remove an extra comma. */
import { JsonReader } from "../lib/json-reader";

/** The maximum number of characters of a token in a message. A longer token is shown without its beginning. */
const MAX_TOKEN = 24;
/** The maximum length of a text whose correction is offered. The correction is a second copy of the text in memory. */
const MAX_CORRECTED = 20000;
const COMMA: i32 = 0x2c;
const APOSTROPHE: i32 = 0x27;

export class JsonFault {
  line: i32 = 1;
  column: i32 = 1;
  /** What is wrong at this place. */
  words: string = "";
  /** The label of the button that corrects the text; empty: no correction is offered. */
  offer: string = "";
  /** The text after the correction. */
  corrected: string = "";

  get sentence(): string {
    return `Line ${this.line}, column ${this.column}: ${this.words}.`;
  }
}

/** Returns the fault; null if the text is JSON. */
export function faultOf(typed: string): JsonFault | null {
  const r = new JsonReader(typed);
  r.skip();
  r.end();
  if (!r.failed) return null;
  const fault = new JsonFault();
  let at = r.errorAt;
  const before = tokenBefore(typed, at);
  const next = at < typed.length ? typed.charCodeAt(at) : -1;
  const isTooMany = before.text === "," && (next === 0x7d || next === 0x5d);
  fault.words = r.error;
  if (next < 0) fault.words = "the text ends too early";
  else if (isTooMany) {
    at = before.end - 1;
    fault.words = "an extra comma";
    suggest(fault, "Remove it", typed.substring(0, at) + typed.substring(before.end), typed);
  } else if (next === APOSTROPHE) fault.words = "use double quotes for names and strings";
  else if (r.error === "',' was expected" && before.text.length > 0) {
    fault.words = `a comma is missing after ${before.text}`;
    suggest(
      fault,
      "Insert it",
      `${typed.substring(0, before.end)},${typed.substring(before.end)}`,
      typed,
    );
  } else if (r.error === "':' was expected" && before.text.length > 0) {
    fault.words = `a colon is missing after ${before.text}`;
    suggest(
      fault,
      "Insert it",
      `${typed.substring(0, before.end)}:${typed.substring(before.end)}`,
      typed,
    );
  } else if (r.error === "'\"' was expected") fault.words = "a name in double quotes is missing";
  for (let i = 0; i < at; i++) {
    fault.column++;
    if (typed.charCodeAt(i) !== 0x0a) continue;
    fault.line++;
    fault.column = 1;
  }
  return fault;
}

function suggest(fault: JsonFault, offer: string, corrected: string, typed: string): void {
  if (typed.length > MAX_CORRECTED) return;
  fault.offer = offer;
  fault.corrected = corrected;
}

class Token {
  constructor(
    readonly text: string,
    readonly end: i32,
  ) {}
}

/**
 * Returns the last token before `at`. A comma, a colon or an opening bracket is a token. Any other token begins after
 * one of these, after white space, or at the beginning of the text.
 */
function tokenBefore(typed: string, at: i32): Token {
  let end = at;
  while (end > 0 && typed.charCodeAt(end - 1) <= 0x20) end--;
  let start = end;
  const last = end > 0 ? typed.charCodeAt(end - 1) : 0;
  if (last === COMMA) start = end - 1;
  else while (start > 0 && !isBetween(typed.charCodeAt(start - 1))) start--;
  if (start === end && end > 0) start = end - 1;
  const text = typed.substring(start, end);
  return new Token(
    text.length > MAX_TOKEN ? "…" + text.substring(text.length - MAX_TOKEN) : text,
    end,
  );
}

/** Whether the character is white space, a comma, a colon, or an opening bracket. */
function isBetween(c: i32): bool {
  return c <= 0x20 || c === COMMA || c === 0x3a || c === 0x7b || c === 0x5b;
}
