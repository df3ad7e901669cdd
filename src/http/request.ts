// Defines a request as endpoints receive it, checks its first line and its headers, and reads its JSON body.
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { InputError } from "../base/errors.ts";
import { Refusal } from "./refusal.ts";

export interface HttpRequest {
  /** A random UUID, for the response's `x-request-id` and the log. */
  readonly id: string;
  readonly method: string;
  /** `1.1` or `1.0`. */
  readonly httpVersion: string;
  /** The path as sent: percent-encoded, without the query. Empty if the target is invalid. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The decoded values of the segments that are `{name}` in the route's path. */
  readonly params: Readonly<Record<string, string>>;
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The host from the target or the Host header, perhaps with a port. */
  readonly host: string | undefined;
  /** The address of the connection's peer; UNIX_PEER on a unix socket. */
  readonly remoteAddress: string;
  /** The client's address as a trusted proxy reports it, or the peer's. */
  readonly client: string;
  /** Aborts when `left` aborts, and when the server stops. */
  readonly closing: AbortSignal;
  /** Aborts when the client disconnects, or the response has ended. */
  readonly left: AbortSignal;
  readonly body: RequestBody;
  /** Node's own request, for the application's login. */
  readonly incoming: IncomingMessage;
  /** Reserves memory for the response. Throws Refusal 503 if too little becomes free in time. */
  reserve(bytes: number): Promise<void>;
  /** Facts about the request, such as its user, for other code and the access log. They must not contain secrets. */
  readonly notes: Record<string, unknown>;
}

export interface RequestBody {
  readonly stream: Readable;
  /** Sends `100 Continue` if the client waits for it. */
  invite(): void;
}

/** Returns the header's value; undefined if the header was not sent. */
export function header(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : undefined;
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;

/**
 * Returns the text of a JSON body, not parsed. Throws Refusal 415 for another content type or a content encoding, 413
 * for more than `limit` bytes, 400 if the body ends too early, and 500 if other code has read the body. Throws
 * InputError for invalid UTF-8.
 */
export async function readJsonText(request: HttpRequest, limit: number): Promise<string> {
  const encoding = header(request, "content-encoding");
  if (!JSON_TYPE.test(header(request, "content-type") ?? "")) {
    throw new Refusal(
      415,
      "unsupported_media_type",
      "the body must be JSON in UTF-8: send it with Content-Type: application/json",
    );
  }
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new Refusal(415, "unsupported_media_type", "send the body without a Content-Encoding");
  }
  const bytes = await readBody(request, limit);
  try {
    // The decoder keeps a byte order mark, so that the JSON parser refuses the text.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new InputError("the body is not valid UTF-8");
  }
}

function readBody(request: HttpRequest, limit: number): Promise<Buffer> {
  const { stream } = request.body;
  return new Promise((resolve, reject) => {
    if (Number(header(request, "content-length") ?? 0) > limit) throw tooLarge(limit);
    // A stream that has ended or is closed emits no further event.
    if (stream.readableEnded) throw new Refusal(500, "body_taken", BODY_TAKEN);
    if (stream.destroyed) throw brokenOff();
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: () => void) => {
      stream.pause();
      stream.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
      outcome();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) settle(() => reject(tooLarge(limit)));
      else chunks.push(chunk);
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks)));
    const onBroken = () => settle(() => reject(brokenOff()));
    stream.on("data", onData).once("end", onEnd).once("error", onBroken).once("close", onBroken);
    request.body.invite();
  });
}

const BODY_TAKEN =
  "the body was already read: mount the admin before body parsers such as express.json()";

const brokenOff = () => new Refusal(400, "bad_request", "the body ended too early");

function tooLarge(limit: number): Refusal {
  return new Refusal(413, "body_too_large", `the body must not exceed ${limit} bytes`);
}

// Node's parser lacks the checks below, or makes them too late (RFC 9112, sections 3.2 and 3.3).

export interface RequestTarget {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly host: string | undefined;
}

/** Returns the parts of a target; null for an invalid target. A host in the target replaces the Host header. */
export function parseTarget(url: string, hostHeader: string | undefined): RequestTarget | null {
  const absolute = /^https?:\/\/([^/?#]*)/i.exec(url);
  const rest = absolute === null ? url : url.slice(absolute[0].length);
  const local = rest === "" || rest.startsWith("?") ? `/${rest}` : rest;
  if (!local.startsWith("/") || (absolute === null && rest === "")) return null;
  const mark = local.indexOf("?");
  return {
    path: mark === -1 ? local : local.slice(0, mark),
    query: new URLSearchParams(mark === -1 ? "" : local.slice(mark + 1)),
    host: absolute === null ? hostHeader : absolute[1],
  };
}

/**
 * Returns a refusal of an unsupported version. Node's parser reads `GET /` without a version as HTTP/0.9, and accepts
 * HTTP/2.0 as if it were HTTP/1.
 */
export function checkVersion(httpVersion: string): Refusal | null {
  if (httpVersion === "1.1" || httpVersion === "1.0") return null;
  if (httpVersion === "0.9") return bad("the request line must end with HTTP/1.1");
  return new Refusal(505, "http_version", `HTTP/${httpVersion} is not supported; use HTTP/1.1`);
}

const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

// These headers must not be sent twice: Node keeps the first, but a proxy may have checked the second.
const single = new Set(["host", "authorization", "content-type", "content-length"]);

/** Returns a refusal of invalid headers. `raw`: names and values in turn, as sent. */
export function checkHeaders(
  raw: readonly string[],
  httpVersion: string,
  host: string | undefined,
  maxCount: number,
): Refusal | null {
  if (raw.length / 2 > maxCount) {
    return new Refusal(431, "headers_too_large", `more than ${maxCount} headers`);
  }
  const seen = new Set<string>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    if (seen.has(name) && single.has(name)) return bad(`the header ${name} occurs twice`);
    seen.add(name);
    // Node's parser refuses other encodings only when the request is already being processed.
    if (name === "transfer-encoding" && !/^chunked$/i.test(raw[at + 1] ?? "")) {
      return bad("the only transfer encoding is chunked");
    }
  }
  if (httpVersion === "1.1" && !seen.has("host")) return bad("the Host header is missing");
  if (host !== undefined && !HOST.test(host)) return bad("the Host header is not a host");
  return null;
}

/** Returns a refusal with 400 that closes the connection, because the end of the request may be unclear. */
function bad(message: string): Refusal {
  return new Refusal(400, "bad_request", message, { headers: { connection: "close" } });
}
