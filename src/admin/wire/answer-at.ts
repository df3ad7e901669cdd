// JSON answers with the header `as-of`: the time of their data. Answers of jsonAt() and answerAt() that differ only in
// this time have the same ETag.
import { AS_OF } from "../../http/repeat/conditional.ts";
import { type HttpResponse, jsonText } from "../../http/response.ts";

/** Returns `value` as an answer. The header `as-of` has the time in its member `as_of`. */
export function jsonAt<T extends { readonly as_of: string }>(value: T): HttpResponse {
  return answerAt(JSON.stringify(value), value.as_of);
}

export function jsonTextAt(text: string, asOf: string): HttpResponse {
  const { headers, ...answer } = jsonText(text);
  return { ...answer, headers: { ...headers, [AS_OF]: asOf } };
}

/**
 * Returns `text` as an answer. It must not contain stored JSON (payloads, metadata): its members `as_of` do not count
 * for the ETag. Without `asOf`, the header is the time of the request.
 */
export function answerAt(text: string, asOf?: string): HttpResponse {
  const answer = asOf === undefined ? jsonText(text) : jsonTextAt(text, asOf);
  return { ...answer, comparable: () => withoutMoments(text) };
}

/** Returns the JSON without its members `as_of` and `names_as_of`. Strings do not match: their quotes are escaped. */
export function withoutMoments(json: string): string {
  return json.replaceAll(/,?"(?:names_)?as_of":"[^"]*"/g, "");
}
