/** Sends requests to the server, and saves downloads. If no answer arrives, sendRequest() returns the status 0. */
import { serverUrl } from "./address.ts";
import { ask } from "./answers.ts";

export interface Answer {
  readonly status: number;
  readonly retryAfter: string;
  readonly body: string;
  /** The transferred bytes of the body, from the header content-length; 0 without this header. */
  readonly bytes: number;
}

/** How long sendRequest() and saveFrom() wait for an answer. */
const PATIENCE_MS = 30_000;
const patience = () => AbortSignal.timeout(PATIENCE_MS);

let early: { readonly path: string; readonly answer: Promise<Answer> } | undefined;

/**
 * Sends a GET request before the application is compiled, to save time. The first sendRequest() returns the answer to
 * this request if the path is the same and no headers are given.
 */
export function askEarly(path: string): void {
  early = { path, answer: send("GET", path, "", "") };
}

export function sendRequest(
  method: string,
  path: string,
  headers: string,
  body: string,
): Promise<Answer> {
  const first = early;
  early = undefined;
  return first?.path === path && !headers ? first.answer : send(method, path, headers, body);
}

async function send(method: string, path: string, headers: string, body: string): Promise<Answer> {
  try {
    const answer = await ask(serverUrl(path), {
      method,
      headers: headersOf(headers),
      body: method === "POST" ? body : null,
      cache: "no-store",
      signal: patience(),
    });
    const retryAfter = answer.headers.get("retry-after") ?? "";
    const bytes = Number(answer.headers.get("content-length"));
    return { status: answer.status, retryAfter, body: answer.text, bytes };
  } catch {
    return { status: 0, retryAfter: "", body: "", bytes: 0 };
  }
}

/**
 * Saves the answer to a GET request with `headers` as a file. (A plain link cannot send headers.) Returns false if the
 * request failed or was refused.
 */
export async function saveFile(path: string, headers: string, name: string): Promise<boolean> {
  try {
    const response = await fetch(serverUrl(path), {
      headers: headersOf(headers),
      cache: "no-store",
    });
    if (!response.ok) return false;
    const url = URL.createObjectURL(await response.blob());
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    URL.revokeObjectURL(url);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts the download of the path if a HEAD request succeeds. Returns why the download cannot begin; empty: it began.
 */
export async function saveFrom(path: string): Promise<string> {
  const url = serverUrl(path);
  try {
    const { ok } = await fetch(url, { method: "HEAD", cache: "no-store", signal: patience() });
    if (!ok) return await refusalAt(url);
  } catch {
    return "The server did not respond.";
  }
  const link = document.createElement("a");
  link.href = url.href;
  link.download = "";
  link.click();
  return "";
}

/** An answer to HEAD has no body, so the reason is read from the answer to a GET request. */
async function refusalAt(url: URL): Promise<string> {
  const response = await fetch(url, { cache: "no-store", signal: patience() });
  if (response.ok) {
    await response.body?.cancel();
    return "The server was busy. Try again.";
  }
  // A proxy's answer is not JSON.
  const body: { readonly error?: string } = await response.json().catch(() => ({}));
  return body.error ?? `The server answered ${response.status}.`;
}

/** Returns the headers in lines of the form `name: value`. */
export function headersOf(lines: string): Headers {
  const headers = new Headers();
  for (const line of lines.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}
