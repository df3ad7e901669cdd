// Payloads travel as JSON text, byte for byte: key order, duplicate keys and integers beyond 2^53
// survive. This file turns what an application gives into that text, and never back and forth.
import { InputError } from "../base/errors.ts";

/** Known in every copy of the library: a task's package is another copy than the executable's. */
const RAW = Symbol.for("pg-job-worker.RawJson");

/**
 * JSON text that passes through exactly as it is, also within a payload's objects and arrays. Build it
 * with `rawJson()`. JSON.stringify() outside of this library writes its value as JavaScript reads it.
 */
export class RawJson {
  /**
   * A symbol, so that an object that happens to have a text is none.
   * @internal
   */
  readonly [RAW]: string;

  constructor(text: string) {
    this[RAW] = text;
    // Own and enumerable: JSON.stringify() also reads it where a toJSON() returned this object.
    Object.defineProperty(this, "text", { enumerable: true, get: () => met(text) });
  }

  /** True for one of any copy of the library. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && typeof textOf(value) === "string";
  }

  declare readonly text: string;

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Marks `text` as a payload to be stored byte for byte. Throws InputError when it is not JSON. */
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
 * The JSON text of a payload. `undefined` is `{}` (Graphile Worker's default); a bigint is written
 * as an exact integer. Throws InputError for what JSON cannot hold (functions, cycles).
 */
export function payloadText(payload: unknown): string {
  if (payload === undefined) return "{}";
  if (payload instanceof RawJson) return checked(textOf(payload));
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
 * No JSON contains it: of the control characters only white space may stand in it. Joins the payloads
 * of a batch on their way to the database.
 */
export const PAYLOAD_SEPARATOR = "\u001f";

const textOf = (raw: object) => (raw as { readonly [RAW]: string })[RAW];

/** What was not built with `rawJson()` could hold anything. */
function checked(text: string): string {
  if (!text.includes(PAYLOAD_SEPARATOR)) return text;
  throw new InputError([{ path: "payload", message: "is not JSON: it has a control character" }]);
}

/** Whether JSON.stringify() has met a RawJson. It may be another copy's, so all copies share it. */
const shared = globalThis as { [MET]?: boolean };
const MET = Symbol.for("pg-job-worker.RawJson.met");

function met(text: string): string {
  shared[MET] = true;
  return text;
}

/** A replacer costs five times as much as it all, so it only runs where a plain attempt fails. */
function toJson(payload: unknown): string | undefined {
  try {
    shared[MET] = false;
    const text = JSON.stringify(payload);
    if (!shared[MET]) return text;
  } catch {
    // A bigint, or what the exact attempt refuses with the same words.
  }
  return toExactJson(payload);
}

// JSON.rawJSON (ECMAScript "JSON.parse source text access") is newer than the compiler's library.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * JSON.rawJSON takes no objects, so each raw text is put in for a mark. JSON.stringify() writes that
 * escape in lower case, so no text of the payload looks like one.
 */
const MARK = /"\\u001F(\d+)"/g;

function toExactJson(payload: unknown): string | undefined {
  const texts: string[] = [];
  const mark = (raw: object) => rawJSON(`"\\u001F${texts.push(checked(textOf(raw))) - 1}"`);
  const text = JSON.stringify(payload, function (this: Holder, key, value: unknown) {
    const given = this[key];
    if (given instanceof RawJson) return mark(given as object);
    if (value instanceof RawJson) return mark(value);
    return typeof value === "bigint" ? rawJSON(value.toString()) : value;
  });
  return text?.replace(MARK, (_, index: string) => texts[Number(index)] as string);
}

type Holder = Readonly<Record<string, unknown>>;
