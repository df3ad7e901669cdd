// The responses that endpoints return: their type, their creation from JSON, and the cut of an incomplete response.
import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";

/** Writes the body to `connection`, which is Node's response, and ends the response. Not called for HEAD. */
export type StreamBody = (connection: Writable) => void;

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | StreamBody | null;
  /** Returns the text from which the ETag is made, such as the body without its times. Default: the whole body. */
  readonly comparable?: () => string;
  /**
   * Whether the end of the connection marks the end of the body (RFC 9112 §6.3). Writes are cheaper without chunks.
   * Default: false.
   */
  readonly endsWithConnection?: boolean;
}

/**
 * Cuts off a response so that the client can detect that the body is incomplete. In HTTP/1.1 the missing last chunk, or
 * the length, shows this. In HTTP/1.0 the end of the connection can also mean that the body is complete, so a TCP
 * connection is reset. Over TLS the missing close_notify is enough. Event streams have no chunks and no length, but a
 * browser reconnects after any end of the stream.
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

/** Returns a response whose body is JSON text. */
export function jsonText(text: string, status = 200): HttpResponse {
  return { status, headers: { "content-type": "application/json; charset=utf-8" }, body: text };
}

const MAX_CHARS = 4_000_000;

/**
 * Returns a response whose body is the joined pieces of JSON text. Long texts are written directly into bytes, which
 * saves a copy.
 */
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
