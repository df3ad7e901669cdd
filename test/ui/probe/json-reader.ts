/**
 * An entry point for tests only, not shipped. Its functions call the client's code for JSON, times and
 * percent-encoding.
 */
import { JsonReader, jsonFault, Kind } from "../../../ui/assembly/lib/json-reader";
import { quote } from "../../../ui/assembly/lib/json-writer";
import { decode, encode } from "../../../ui/assembly/lib/percent";
import { isoTime, parseTime } from "../../../ui/assembly/lib/time";

/** Returns the first fault that the reader finds in the text; the empty string if there is none. */
export function fault(text: string): string {
  return jsonFault(text);
}

/**
 * Reads each value of the text with the reader's method for the value's type, and returns all as JSON again. Numbers
 * keep their text. If the text is invalid, returns `!` and the error.
 */
export function rewritten(text: string): string {
  const r = new JsonReader(text);
  const out = rewrite(r);
  r.end();
  return r.failed ? "!" + r.error : out;
}

/** Reads a whole number and returns all its digits; the error if it cannot be read. */
export function int64(text: string): string {
  const r = new JsonReader(text);
  const value = r.i64();
  r.end();
  return r.failed ? r.error : value.toString();
}

/** Returns the exact text of the member `payload`; `!` and the error for invalid JSON. */
export function payload(text: string): string {
  const r = new JsonReader(text);
  let raw = "";
  r.beginObject();
  while (r.nextKey()) {
    if (r.keyIs("payload")) raw = r.raw();
    else r.skip();
  }
  r.end();
  return r.failed ? "!" + r.error : raw;
}

/** Reads a time and returns it in the form of isoTime(); the empty string if `text` is not a time. */
export function timeAgain(text: string): string {
  return isoTime(parseTime(text));
}

export function percentEncoded(text: string): string {
  return encode(text);
}

export function percentDecoded(text: string): string {
  return decode(text);
}

function rewrite(r: JsonReader): string {
  const kind = r.peek();
  if (kind === Kind.String) return quote(r.string());
  if (kind === Kind.True || kind === Kind.False) return r.bool() ? "true" : "false";
  if (kind === Kind.Null) return r.takeNull() ? "null" : "";
  if (kind !== Kind.Object && kind !== Kind.Array) return r.raw();
  const parts: string[] = [];
  if (kind === Kind.Array) {
    r.beginArray();
    while (r.nextItem()) parts.push(rewrite(r));
    return "[" + parts.join(",") + "]";
  }
  r.beginObject();
  while (r.nextKey()) {
    const name = quote(r.key());
    parts.push(name + ":" + rewrite(r));
  }
  return "{" + parts.join(",") + "}";
}
