// Responses of endpoints: their type, how they are made from JSON, and how an incomplete one is cut off. A body is
// whole (text or bytes), absent, or a function that writes it to the connection.
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";

/** Writes the body to the response `connection` and ends it. Not called for HEAD. */
export type StreamBody = (connection: Writable) => void;

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | StreamBody | null;
  /** Returns the text from which the ETag is made, such as the body without its times. Default: the whole body. */
  readonly comparable?: () => string;
  /**
   * Whether the body ends with the connection (RFC 9112 §6.3) instead of having a length or chunks, so that each write
   * is one buffer instead of four. Default: false.
   */
  readonly endsWithConnection?: boolean;
}

/**
 * Cuts off an incomplete response. In HTTP/1.0 the body ends with the connection. Over TCP, a reset shows that the body
 * is incomplete; over TLS, the missing close_notify shows it. In HTTP/1.1 the missing last chunk shows it, and a reset
 * would only discard bytes that the client has not read yet.
 */
export function cutOff(response: ServerResponse): void {
  const { socket, req } = response;
  const isTcp = socket !== null && socket.remoteAddress !== undefined && !("encrypted" in socket);
  if (req.httpVersion === "1.0" && isTcp) socket.resetAndDestroy();
  else response.destroy();
}

export function json(value: unknown, status = 200): HttpResponse {
  return jsonText(JSON.stringify(value), status);
}

/** Returns a response from JSON text, such as rows whose payloads are sent exactly as stored. */
export function jsonText(text: string, status = 200): HttpResponse {
  return { status, headers: { "content-type": "application/json; charset=utf-8" }, body: text };
}

/** The total length, in characters, above which pieces of text are not joined but written to one buffer. */
const MAX_CHARS = 4_000_000;

/** Returns a response from pieces of JSON text. Beyond MAX_CHARS they are copied once, into the bytes that are sent. */
export function jsonTexts(texts: readonly string[]): HttpResponse {
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  const { status, headers } = jsonText("");
  return { status, headers, body: chars <= MAX_CHARS ? texts.join("") : bytesOf(texts) };
}

function bytesOf(texts: readonly string[]): Buffer {
  const length = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const text of texts) at += bytes.write(text, at);
  return bytes;
}
