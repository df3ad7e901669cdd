// Conditional GET. A response of moderate length has an ETag. If a later request sends this ETag in If-None-Match, and
// the new response would differ from the old one in nothing but times, the client gets a 304 without a body. The 304,
// too, has the time of the data in the header `as-of`.
import { hash } from "node:crypto";
import { type HttpRequest, header } from "../request.ts";
import type { HttpResponse } from "../response.ts";

/** The header with the time of a response's data, RFC 3339 in UTC. */
export const AS_OF = "as-of";

/** The bounds for bodies with an ETag. For a shorter body a 304 saves too little. Hashing a longer body is too slow. */
const MIN_CHARS = 500;
const MAX_CHARS = 250_000;

/**
 * Returns the response with its ETag, or a 304 if the request has this ETag. A response gets no ETag if its status is
 * not 200, or if its body is not a text with a length within the bounds.
 */
export function conditional(
  request: HttpRequest,
  { comparable, ...response }: HttpResponse,
): HttpResponse {
  const { status, headers, body } = response;
  if (status !== 200 || typeof body !== "string") return response;
  if (body.length < MIN_CHARS || body.length > MAX_CHARS) return response;
  // The ETag is weak, because two responses with the same ETag may differ in their times and their encodings.
  const etag = `W/"${hash("sha256", comparable?.() ?? body, "base64url").slice(0, 22)}"`;
  const tagged = { ...headers, etag };
  if (!header(request, "if-none-match")?.split(/, */).includes(etag)) {
    return { ...response, headers: tagged };
  }
  const { "content-type": _, ...rest } = headers;
  return { status: 304, headers: { ...rest, etag }, body: null };
}
