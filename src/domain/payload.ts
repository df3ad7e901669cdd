// Payloads travel as JSON text, byte for byte: key order, duplicate keys and integers beyond 2^53
// survive. This file turns what an application gives into that text, and never back and forth.
import { InputError } from "../base/errors.ts";

/** JSON text that passes through exactly as it is. Build it with `rawJson()`. */
export class RawJson {
  // Private, so that an object that happens to have a text is none.
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
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
  if (payload instanceof RawJson) return checked(payload.text);
  let text: string | undefined;
  try {
    text = toJson(payload);
  } catch (cause) {
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

/** What was not built with `rawJson()` could hold anything. */
function checked(text: string): string {
  if (!text.includes(PAYLOAD_SEPARATOR)) return text;
  throw new InputError([{ path: "payload", message: "is not JSON: it has a control character" }]);
}

/** A replacer costs five times as much as it all, so it only runs where a plain attempt fails. */
function toJson(payload: unknown): string | undefined {
  try {
    return JSON.stringify(payload);
  } catch {
    return JSON.stringify(payload, exactBigint);
  }
}

// JSON.rawJSON (ECMAScript "JSON.parse source text access") is newer than the compiler's library.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

function exactBigint(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? rawJSON(value.toString()) : value;
}
