// Parses JSON with exact numbers, and writes equal values as the same text: sorted members, no white space, numbers
// with all their digits. Of members with the same name the last counts, as in JavaScript and jsonb.
import { canonicalNumber } from "./decimal.ts";

/** A parsed JSON value whose numbers are exact. */
export type ExactJson =
  | null
  | boolean
  | string
  | ExactNumber
  | readonly ExactJson[]
  | { readonly [name: string]: ExactJson };

class ExactNumber {
  readonly text: string;

  constructor(source: string) {
    this.text = canonicalNumber(source);
  }
}

// TypeScript's own type of JSON.parse lacks the reviver's third argument (ECMAScript "JSON.parse source text access").
const parse = JSON.parse as (text: string, reviver: Reviver) => ExactJson;
type Reviver = (name: string, value: unknown, context: { readonly source: string }) => unknown;

/**
 * Parses JSON with exact numbers. Throws SyntaxError for a text that is not JSON, RangeError for a text that is nested
 * too deeply.
 */
export const exactJson = (text: string): ExactJson =>
  parse(text, (_, value, { source }) =>
    typeof value === "number" ? new ExactNumber(source) : value,
  );

/** Returns the value of a member; undefined if `value` is not an object or has no such member. */
export function memberOf(value: ExactJson, name: string): ExactJson | undefined {
  const isObject = typeof value === "object" && value !== null && !(value instanceof ExactNumber);
  if (!isObject || Array.isArray(value) || !Object.hasOwn(value, name)) return undefined;
  return (value as { readonly [name: string]: ExactJson })[name];
}

/** Returns a value's text. Equal values have equal texts. Throws RangeError for a value that is nested too deeply. */
export function canonicalText(value: ExactJson): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${canonicalText(one)}`).join(",")}}`;
}
