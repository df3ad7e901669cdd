// Answers that a client has asked for before. Each has an ETag. Who names it in If-None-Match is told 304
// when nothing is different; who also says `A-IM: pieces` is told what is different (226, RFC 3229), made of
// the answer it had, which is kept for it until it asks again, or until others need the room.
import { hash } from "node:crypto";
import { type HttpRequest, header } from "../request.ts";
import type { HttpResponse } from "../response.ts";
import { textDelta } from "./text-delta.ts";

/** The name of our deltas (text-delta.ts). */
export const PIECES = "pieces";

/** A shorter answer is not worth asking about; a longer one would take long to compare (30 ms at worst). */
const LEAST_CHARS = 500;
const MOST_CHARS = 250_000;
/** Of all answers that are kept. */
const MOST_KEPT_CHARS = 16_000_000;

/** What is sent in place of an answer to a GET, if the client knows it already, or most of it. */
export function createRepeated(): (request: HttpRequest, response: HttpResponse) => HttpResponse {
  /** By their ETags; the one that was answered longest ago stands first. */
  const kept = new Map<string, string>();
  let keptChars = 0;

  const take = (etag: string) => {
    const text = kept.get(etag);
    if (kept.delete(etag)) keptChars -= text?.length ?? 0;
    return text;
  };
  const keep = (etag: string, text: string) => {
    take(etag);
    kept.set(etag, text);
    keptChars += text.length;
    for (const oldest of kept.keys()) {
      if (keptChars <= MOST_KEPT_CHARS) return;
      take(oldest);
    }
  };

  return (request, response) => {
    const { status, headers, body } = response;
    if (status !== 200 || typeof body !== "string") return response;
    if (body.length < LEAST_CHARS || body.length > MOST_CHARS) return response;
    // Weak: the same text may be compressed or not.
    const etag = `W/"${hash("sha256", body, "base64url").slice(0, 22)}"`;
    const known = header(request, "if-none-match");
    if (known?.split(/, */).includes(etag)) return { status: 304, headers: { etag }, body: null };
    const tagged = { ...response, headers: { ...headers, etag } };
    if (header(request, "a-im") !== PIECES) return tagged;
    const before = known === undefined ? undefined : take(known);
    keep(etag, body);
    if (known === undefined || before === undefined) return tagged;
    const delta = textDelta(before, body);
    if (delta.length > body.length / 2) return tagged;
    const of = { etag, im: PIECES, "delta-base": known };
    return { status: 226, headers: { ...headers, ...of }, body: delta };
  };
}
