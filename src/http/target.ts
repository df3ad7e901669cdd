// What the request line and the headers must be before anybody looks at what is wanted (RFC 9112,
// sections 3.2 and 3.3): Node's parser lets these through.
import { Refusal } from "./refusal.ts";

export interface RequestTarget {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly host: string | undefined;
}

/** The target's parts, or null when it is none. An absolute target's host replaces the header's. */
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
 * What is wrong with the version, or null. Node's parser takes `GET /` without one for HTTP/0.9, which
 * has no headers, and HTTP/2.0 for a name of HTTP/1: nobody can know what such a client expects.
 */
export function checkVersion(httpVersion: string): Refusal | null {
  if (httpVersion === "1.1" || httpVersion === "1.0") return null;
  if (httpVersion === "0.9") return bad("the request line must end with HTTP/1.1");
  return new Refusal(505, "http_version", `HTTP/${httpVersion} is not spoken here; use HTTP/1.1`);
}

const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

// Node keeps the first of two; a proxy in front may have checked the second.
const single = new Set(["host", "authorization", "content-type", "content-length"]);

/** What is wrong with the headers, or null. `raw`: names and values in turn, as they were sent. */
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
    if (seen.has(name) && single.has(name)) return bad(`the header ${name} is there twice`);
    seen.add(name);
    // The parser would find out only once the request is under way.
    if (name === "transfer-encoding" && !/^chunked$/i.test(raw[at + 1] ?? "")) {
      return bad("the only transfer encoding is chunked");
    }
  }
  if (httpVersion === "1.1" && !seen.has("host")) return bad("the Host header is missing");
  if (host !== undefined && !HOST.test(host)) return bad("the Host header is not a host");
  return null;
}

/** Where such a request ends may be read differently: it is the last of its connection. */
function bad(message: string): Refusal {
  return new Refusal(400, "bad_request", message, { headers: { connection: "close" } });
}
