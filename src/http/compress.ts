// Compresses text responses for clients that accept gzip. A list of jobs shrinks to a sixth.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type HttpRequest, header } from "./request.ts";
import type { HttpResponse } from "./response.ts";

/** The length of a text below which compression is not worth its time. */
const MIN_CHARS = 300;
/** The length of a text above which compression would occupy a thread for too long. */
const MAX_CHARS = 4_000_000;
/** The fastest level. The next level makes the result only a few percent smaller. */
const LEVEL = 1;

const compress = promisify(gzip);

/**
 * Returns the response, compressed if its body is a text of suitable length without a content-encoding and the client
 * accepts gzip.
 */
export async function compressResponse(
  request: HttpRequest,
  response: HttpResponse,
): Promise<HttpResponse> {
  const { body, headers } = response;
  if (typeof body !== "string" || body.length < MIN_CHARS || body.length > MAX_CHARS) {
    return response;
  }
  if ("content-encoding" in headers) return response;
  const varying = { ...headers, vary: "accept-encoding" };
  if (!acceptsGzip(header(request, "accept-encoding") ?? ""))
    return { ...response, headers: varying };
  const bytes = await compress(body, { level: LEVEL });
  return { ...response, headers: { ...varying, "content-encoding": "gzip" }, body: bytes };
}

/** The maximum number of codings that are read from a header, and of parts that are read from each coding. */
export const MAX_CODINGS = 32;

/** Whether an accept-encoding header accepts gzip. `gzip`, `gzip;q=0.5` and `*` do; `gzip;q=0` does not. */
export function acceptsGzip(accepted: string): boolean {
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(",", MAX_CODINGS)) {
    const [name = "", ...parameters] = part.split(";", MAX_CODINGS).map((piece) => piece.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    weights.set(name, Number(weight ?? 1));
  }
  return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
}
