/**
 * The last answers to GET requests, by URL. A repeated request contains the etag of the stored answer. If nothing has
 * changed since, the server sends only the new time of the data (src/http/repeat/conditional.ts).
 */

interface CachedAnswer {
  readonly etag: string;
  readonly asOf: string;
  readonly text: string;
}

/** The maximum number of stored answers. A page repeats the same few requests. */
const MAX_KEPT = 8;

let answers = new Map<string, CachedAnswer>();

/**
 * Discards all answers when the session ends. If an earlier request is answered later, its answer is stored only in the
 * discarded map.
 */
export function clearAnswers(): void {
  answers = new Map();
}

/**
 * Sends a request and returns the answer. If the server answers with 304, returns the text of the stored answer with
 * the new time of the data, and the status 200.
 */
export async function ask(url: URL, init: RequestInit & { readonly headers: Headers }) {
  const isRead = init.method === "GET";
  const stored = answers;
  const known = isRead ? stored.get(url.href) : undefined;
  if (known) init.headers.set("if-none-match", known.etag);
  const response = await fetch(url, init);
  const { headers } = response;
  const isSame = known !== undefined && response.status === 304;
  const status = isSame ? 200 : response.status;
  const asOf = headers.get("as-of") ?? "";
  const text = isSame ? atMoment(known, asOf) : await response.text();
  const etag = headers.get("etag");
  if (isRead) {
    stored.delete(url.href);
    if (etag) stored.set(url.href, { etag, asOf, text });
  }
  const [oldest] = stored.keys();
  if (oldest && stored.size > MAX_KEPT) stored.delete(oldest);
  return { status, headers, text };
}

/** Returns the text of a stored answer with a newer time of its data. */
function atMoment(known: CachedAnswer, asOf: string): string {
  return known.text.replaceAll(`"as_of":"${known.asOf}"`, `"as_of":"${asOf}"`);
}
