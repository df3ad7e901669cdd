// JSON answers with the header `as-of`, which is the time of their data. The ETag of an answer of jsonAt() or
// answerAt() does not depend on the members `as_of` and `names_as_of` in the JSON.
import { AS_OF } from "../../http/repeat/conditional.ts";
import { type HttpResponse, jsonText } from "../../http/response.ts";

/** Returns `value` as an answer. The header `as-of` has the value of the member `as_of`. */
export function jsonAt<T extends { readonly as_of: string }>(value: T): HttpResponse {
  return answerAt(JSON.stringify(value), value.as_of);
}

export function jsonTextAt(text: string, asOf: string): HttpResponse {
  const { headers, ...answer } = jsonText(text);
  return { ...answer, headers: { ...headers, [AS_OF]: asOf } };
}

/**
 * Returns the JSON `text` as an answer. The text must not contain stored JSON, such as payloads or metadata: a change
 * of a member `as_of` in it would not change the ETag. Without `asOf`, the header `as-of` is the time of the request.
 */
export function answerAt(text: string, asOf?: string): HttpResponse {
  const answer = asOf === undefined ? jsonText(text) : jsonTextAt(text, asOf);
  return { ...answer, comparable: () => withoutMoments(text) };
}

/**
 * Returns the JSON without its members `as_of` and `names_as_of`. A string that looks like such a member stays as it
 * is, because the quotes in a string are escaped.
 */
export function withoutMoments(json: string): string {
  return json.replaceAll(/,?"(?:names_)?as_of":"[^"]*"/g, "");
}
