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
