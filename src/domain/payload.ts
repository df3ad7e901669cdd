// Payloads are stored and returned as JSON text, byte for byte, so key order, duplicate keys and integers beyond 2^53
// are kept. This file turns an application's value into that text.
import { InputError } from "../base/errors.ts";

/** All copies of the library share this symbol: a task file may import another copy than the worker. */
const RAW = Symbol.for("pg-job-worker.RawJson");

/**
 * JSON text that is stored exactly as it is: as a payload, or as a part of a payload. Made by rawJson(). A RawJson
 * cannot be sent to another thread: send its `text`.
 */
export class RawJson {
  /**
   * A symbol, so that an unrelated object with a `text` does not count as a RawJson.
   * @internal
   */
  readonly [RAW]: string;

  /** Wraps `text` without a check; rawJson() checks it. */
  constructor(text: string) {
    this[RAW] = text;
    // recordUse() must be called whenever JSON.stringify() meets this object. If the toJSON() of another object returns
    // this object, JSON.stringify() does not call this toJSON(), but it reads `text`, an own enumerable property.
    Object.defineProperty(this, "text", { enumerable: true, get: () => recordUse(text) });
    // A function as an own property makes structuredClone() and postMessage() throw. Their copy would not be a RawJson.
    Object.defineProperty(this, "toJSON", { enumerable: true, value: this.toJSON });
  }

  /** Whether `value` is a RawJson, of this or of another copy of the library. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && typeof textOf(value) === "string";
  }

  /** The JSON text. */
  declare readonly text: string;

  /** Returns the parsed value, for JSON.stringify(). Integers beyond 2^53 lose digits. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/**
 * Returns `text` as a payload that is stored byte for byte. Throws InputError if `text` is not JSON, or has half of a
 * surrogate pair.
 */
export function rawJson(text: string): RawJson {
  if (typeof text !== "string") {
    throw new InputError([{ path: "payload", message: "must be a text of JSON" }]);
  }
  if (!text.isWellFormed()) {
    throw new InputError([{ path: "payload", message: "has half of a surrogate pair" }]);
  }
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new InputError([
      { path: "payload", message: `is not JSON: ${(cause as Error).message}` },
    ]);
  }
  return new RawJson(text);
}

/**
 * Returns the JSON text of a payload: `{}` for undefined, as in Graphile Worker. A bigint becomes an exact integer.
 * Throws InputError for a payload that JSON cannot represent, such as a function or a cycle.
 */
export function payloadText(payload: unknown): string {
  if (payload === undefined) return "{}";
  if (payload instanceof RawJson) return checkText(textOf(payload));
  let text: string | undefined;
  try {
    text = toJson(payload);
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    throw new InputError([{ path: "payload", message: (cause as Error).message }]);
  }
  if (text === undefined) {
    throw new InputError([{ path: "payload", message: `a ${typeof payload} is not JSON` }]);
  }
  return text;
}

/**
 * Separates payloads that are sent to the database, or read from it, as one text. JSON never contains this character
 * (RFC 8259).
 */
export const PAYLOAD_SEPARATOR = "\u001f";

const textOf = (raw: object) => (raw as { readonly [RAW]: string })[RAW];

/** Throws InputError if `text` has the separator: `new RawJson()` does not check its text. */
function checkText(text: string): string {
  if (!text.includes(PAYLOAD_SEPARATOR)) return text;
  throw new InputError([{ path: "payload", message: "is not JSON: it has a control character" }]);
}

/** `[MET]`: whether the text of a RawJson, of any copy of the library, has been read. */
const shared = globalThis as { [MET]?: boolean };
const MET = Symbol.for("pg-job-worker.RawJson.met");

function recordUse(text: string): string {
  shared[MET] = true;
  return text;
}

/**
 * Calls toExactJson(), which takes five times as long, only if JSON.stringify() threw or read the text of a RawJson.
 */
function toJson(payload: unknown): string | undefined {
  // The toJSON() of a member may itself call payloadText(), which changes the same flag.
  const outer = shared[MET] === true;
  try {
    shared[MET] = false;
    const text = JSON.stringify(payload);
    if (!shared[MET]) return text;
  } catch {
    // toExactJson() accepts a bigint, and throws the same error for other values, such as a cycle.
  } finally {
    shared[MET] = outer;
  }
  return toExactJson(payload);
}

// TypeScript's library does not declare JSON.rawJSON (ECMAScript "JSON.parse source text access") yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * JSON.rawJSON() refuses texts of objects and lists. So toExactJson() first writes a mark for each RawJson, and
 * replaces the marks at the end. A mark contains `\u001F` in upper case. JSON.stringify() writes this character in
 * lower case, so no string equals a mark.
 */
const MARK = /"\\u001F(\d+)"/g;

function toExactJson(payload: unknown): string | undefined {
  const texts: string[] = [];
  const mark = (raw: object) => rawJSON(`"\\u001F${texts.push(checkText(textOf(raw))) - 1}"`);
  const text = JSON.stringify(payload, function (this: Holder, key, value: unknown) {
    const given = this[key];
    if (given instanceof RawJson) return mark(given as object);
    if (value instanceof RawJson) return mark(value);
    return typeof value === "bigint" ? rawJSON(value.toString()) : value;
  });
  return text?.replace(MARK, (_, index: string) => texts[Number(index)] as string);
}

type Holder = Readonly<Record<string, unknown>>;
