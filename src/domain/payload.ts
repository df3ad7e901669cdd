// Payloads travel as JSON text, byte for byte: key order, duplicate keys and integers beyond 2^53 survive.
// This file turns an application's value into that text.
import { InputError } from "../base/errors.ts";

/** Shared by all copies of the library: a task's package is another copy than the executable's. */
const RAW = Symbol.for("pg-job-worker.RawJson");

/**
 * JSON text that is stored exactly as it is, as a payload or within one. Made by rawJson(). JSON.stringify()
 * elsewhere writes the value that JavaScript parses from it. It cannot be sent to another thread: send its `text`.
 */
export class RawJson {
  /**
   * A symbol, so that an unrelated object with a `text` does not match.
   * @internal
   */
  readonly [RAW]: string;

  /** Wraps `text` without a check; rawJson() checks it. */
  constructor(text: string) {
    this[RAW] = text;
    // An own and enumerable property, so that JSON.stringify() also reads it if a toJSON() returned this object.
    Object.defineProperty(this, "text", { enumerable: true, get: () => recordUse(text) });
    // A function as an own property makes structuredClone() and postMessage() throw: a copy would be another payload.
    Object.defineProperty(this, "toJSON", { enumerable: true, value: this.toJSON });
  }

  /** Whether `value` is a RawJson, also of another copy of the library. */
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

/** Returns `text` as a payload that is stored byte for byte. Throws InputError when it is not JSON. */
export function rawJson(text: string): RawJson {
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
 * Returns the JSON text of a payload. `undefined` is `{}` (Graphile Worker's default); a bigint becomes an
 * exact integer. Throws InputError for values that JSON cannot represent (functions, cycles).
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
 * Separates the payloads of a batch on their way to the database. JSON never contains it: the only control
 * characters allowed in JSON are white space.
 */
export const PAYLOAD_SEPARATOR = "\u001f";

const textOf = (raw: object) => (raw as { readonly [RAW]: string })[RAW];

/** Checks a text again, because an object that rawJson() did not create can contain any text. */
function checkText(text: string): string {
  if (!text.includes(PAYLOAD_SEPARATOR)) return text;
  throw new InputError([{ path: "payload", message: "is not JSON: it has a control character" }]);
}

/**
 * Whether JSON.stringify() has read a RawJson. All copies of the library share it, because the RawJson may be of
 * another copy.
 */
const shared = globalThis as { [MET]?: boolean };
const MET = Symbol.for("pg-job-worker.RawJson.met");

function recordUse(text: string): string {
  shared[MET] = true;
  return text;
}

/** A replacer makes JSON.stringify() five times as slow, so it runs only if the plain attempt does not suffice. */
function toJson(payload: unknown): string | undefined {
  try {
    shared[MET] = false;
    const text = JSON.stringify(payload);
    if (!shared[MET]) return text;
  } catch {
    // The payload has a bigint, or a value that the exact attempt refuses with the same message.
  }
  return toExactJson(payload);
}

// JSON.rawJSON (ECMAScript "JSON.parse source text access") is missing in the compiler's library.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * JSON.rawJSON does not accept objects, so a mark replaces each raw text. JSON.stringify() writes this
 * escape in lower case, so no text of the payload equals a mark.
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
