/**
 * The last answers of the server, by their addresses: who names the one it has is told only what is
 * different in the next one (src/http/repeat).
 */

interface Known {
  readonly etag: string;
  readonly text: string;
}

/** A page asks for a few things again and again. */
const MOST_KNOWN = 8;

const answers = new Map<string, Known>();

/** An answer as if it had come whole. */
export async function ask(url: URL, init: RequestInit & { readonly headers: Headers }) {
  const isRead = init.method === "GET";
  const known = isRead ? answers.get(url.href) : undefined;
  if (isRead) init.headers.set("a-im", "pieces");
  if (known) init.headers.set("if-none-match", known.etag);
  const response = await fetch(url, init);
  const { headers } = response;
  let { status } = response;
  let text = await response.text();
  if (known && (status === 304 || status === 226)) {
    text = status === 304 ? known.text : joined(known.text, text);
    status = 200;
  }
  if (isRead) keep(url.href, headers.get("etag"), text);
  // Who is signed out has nothing.
  if (status === 401) answers.clear();
  return { status, headers, text };
}

function keep(url: string, etag: string | null, text: string): void {
  answers.delete(url);
  if (etag) answers.set(url, { etag, text });
  const [oldest] = answers.keys();
  if (oldest && answers.size > MOST_KNOWN) answers.delete(oldest);
}

/** The text that differs from `before` as `delta` says: by parts of its own, or pieces that end in commas. */
export function joined(before: string, delta: string): string {
  const pieces = before.match(/[^,]*,|[^,]+$/g) ?? [];
  const parts: (string | [number, number])[] = JSON.parse(delta);
  return parts
    .map((part) =>
      typeof part === "string" ? part : pieces.slice(part[0], part[0] + part[1]).join(""),
    )
    .join("");
}
