// Conditional GET. A response of moderate length has an ETag. A request with this ETag in If-None-Match gets 304 as
// long as nothing but the time of the data has changed. The header `as-of` contains this time, also with 304.
import { hash } from "node:crypto";
import { type HttpRequest, header } from "../request.ts";
import type { HttpResponse } from "../response.ts";

/** The header with the time of a response's data, RFC 3339 in UTC. */
export const AS_OF = "as-of";

/** A response within these lengths has an ETag. A shorter one saves too little; hashing a longer one is too slow. */
const MIN_CHARS = 500;
const MAX_CHARS = 250_000;

/**
 * Returns a response of moderate length with its ETag; 304 if the request has this ETag. Other responses are unchanged.
 */
export function conditional(
  request: HttpRequest,
  { comparable, ...response }: HttpResponse,
): HttpResponse {
  const { status, headers, body } = response;
  if (status !== 200 || typeof body !== "string") return response;
  if (body.length < MIN_CHARS || body.length > MAX_CHARS) return response;
  // The ETag is weak, because two responses with it may differ in their time and their encoding.
  const etag = `W/"${hash("sha256", comparable?.() ?? body, "base64url").slice(0, 22)}"`;
  const tagged = { ...headers, etag };
  if (!header(request, "if-none-match")?.split(/, */).includes(etag)) {
    return { ...response, headers: tagged };
  }
  const { "content-type": _, ...rest } = headers;
  return { status: 304, headers: { ...rest, etag }, body: null };
}
