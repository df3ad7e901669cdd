// An answer about a moment, which it sends as the header `as-of`. Answers that differ in nothing but their
// moments have one ETag.
import { AS_OF } from "../../http/repeat/conditional.ts";
import { type HttpResponse, jsonText } from "../../http/response.ts";

/** The JSON of a value that has its moment in `as_of`. */
export function jsonAt<T extends { readonly as_of: string }>(value: T): HttpResponse {
  return answerAt(JSON.stringify(value), value.as_of);
}

export function jsonTextAt(text: string, asOf: string): HttpResponse {
  const { headers, ...answer } = jsonText(text);
  return { ...answer, headers: { ...headers, [AS_OF]: asOf } };
}

/** `text` is JSON without stored JSON (payloads, metadata) in it: every `as_of` outside strings is ours. */
export function answerAt(text: string, asOf?: string): HttpResponse {
  const answer = asOf === undefined ? jsonText(text) : jsonTextAt(text, asOf);
  return { ...answer, comparable: () => withoutMoments(text) };
}

/** In a string of JSON each quote has a backslash before it, so this matches members alone. */
export function withoutMoments(json: string): string {
  return json.replaceAll(/,?"(?:names_)?as_of":"[^"]*"/g, "");
}
