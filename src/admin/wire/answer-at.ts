// JSON answers with the header `as-of`: the time of their data. Answers that differ only in this time have the same
// ETag.
import { AS_OF } from "../../http/repeat/conditional.ts";
import { type HttpResponse, jsonText } from "../../http/response.ts";

/** Returns the answer for a value that has its moment in `as_of`. */
export function jsonAt<T extends { readonly as_of: string }>(value: T): HttpResponse {
  return answerAt(JSON.stringify(value), value.as_of);
}

export function jsonTextAt(text: string, asOf: string): HttpResponse {
  const { headers, ...answer } = jsonText(text);
  return { ...answer, headers: { ...headers, [AS_OF]: asOf } };
}

/**
 * Returns the answer. `text` is JSON without stored JSON (payloads, metadata), so every member `as_of` is a moment of
 * the answer.
 */
export function answerAt(text: string, asOf?: string): HttpResponse {
  const answer = asOf === undefined ? jsonText(text) : jsonTextAt(text, asOf);
  return { ...answer, comparable: () => withoutMoments(text) };
}

/** Returns the JSON without moments. Quotes inside JSON strings have a backslash before them, so only members match. */
export function withoutMoments(json: string): string {
  return json.replaceAll(/,?"(?:names_)?as_of":"[^"]*"/g, "");
}
