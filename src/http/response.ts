// What an endpoint answers with, and how to build it. Bodies are whole (text or bytes), absent, or a
// stream that writes itself to the connection.
import type { Writable } from "node:stream";

/** Writes itself to the connection, which it must end. Not called for HEAD. */
export type StreamBody = (connection: Writable) => void;

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | StreamBody | null;
  /** Returns what the ETag is made of, where that is less than the whole body. */
  readonly comparable?: () => string;
  /**
   * A stream without an end of its own ends where its connection does (RFC 9112 §6.3), not in chunks:
   * each of its writes is one buffer and not four. Default: false.
   */
  readonly endsWithConnection?: boolean;
}

/** JSON from a value. */
export function json(value: unknown, status = 200): HttpResponse {
  return jsonText(JSON.stringify(value), status);
}

/** JSON that is text already: rows whose payloads must not be parsed and printed again. */
export function jsonText(text: string, status = 200): HttpResponse {
  return { status, headers: { "content-type": "application/json; charset=utf-8" }, body: text };
}

/** Of more characters than this the text is never put together: its bytes are made of its pieces. */
const MOST_CHARS = 4_000_000;

/** JSON that is text in pieces. Large ones are copied once, into the bytes that are sent. */
export function jsonTexts(texts: readonly string[]): HttpResponse {
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  const { status, headers } = jsonText("");
  return { status, headers, body: chars <= MOST_CHARS ? texts.join("") : bytesOf(texts) };
}

function bytesOf(texts: readonly string[]): Buffer {
  const length = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const text of texts) at += bytes.write(text, at);
  return bytes;
}
