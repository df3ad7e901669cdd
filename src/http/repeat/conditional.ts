// Conditional GET. Each answer has an ETag; a request that names it in If-None-Match is answered 304 while
// nothing is different. An answer's moment is not a difference: it is sent as the header `as-of`, with 304 too.
import { hash } from "node:crypto";
import { type HttpRequest, header } from "../request.ts";
import type { HttpResponse } from "../response.ts";

/** The moment whose state an answer shows, RFC 3339 in UTC. */
export const AS_OF = "as-of";

/** A shorter answer is not worth an ETag; a longer one takes too long to hash. */
const LEAST_CHARS = 500;
const MOST_CHARS = 250_000;

/** Returns 304 if the request names this answer, else the answer with its ETag. */
export function conditional(
  request: HttpRequest,
  { comparable, ...response }: HttpResponse,
): HttpResponse {
  const { status, headers, body } = response;
  if (status !== 200 || typeof body !== "string") return response;
  if (body.length < LEAST_CHARS || body.length > MOST_CHARS) return response;
  // Weak: two answers with this ETag may differ in their moment and their encoding.
  const etag = `W/"${hash("sha256", comparable?.() ?? body, "base64url").slice(0, 22)}"`;
  const tagged = { ...headers, etag };
  if (!header(request, "if-none-match")?.split(/, */).includes(etag)) {
    return { ...response, headers: tagged };
  }
  const { "content-type": _, ...kept } = headers;
  return { status: 304, headers: { ...kept, etag }, body: null };
}
