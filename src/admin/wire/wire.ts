// Reads fields of request bodies and URL queries. One declaration gives both a field's check and its documentation.
import * as v from "valibot";
import { InputError } from "../../base/errors.ts";
import { jsonElements, jsonMembers } from "../../base/json-members.ts";
import { strict, validate } from "../../base/validate.ts";
import type { Field, FieldData } from "../../commands/declare/field.ts";
import { type HttpRequest, readJsonText } from "../../http/request.ts";
import { type JsonSchema, schemaOfField } from "./json-schema.ts";

/** Returns the exact JSON texts of a body's members, by name. `limit`: the body's maximum bytes. */
export async function readMembers(
  request: HttpRequest,
  limit: number,
): Promise<Map<string, string>> {
  return jsonMembers(await readJsonText(request, limit));
}

/** Returns the value that a field's check receives. Ids and JSON stay exact texts. */
export function fieldValue(text: string, field: FieldData | undefined): unknown {
  if (field?.kind === "json") return text;
  if (field?.kind === "ids") return jsonElements(text);
  return JSON.parse(text);
}

/** A field of a URL query. */
export interface QueryField<S extends v.GenericSchema = v.GenericSchema> {
  readonly check: v.OptionalSchema<S, undefined>;
  readonly doc: JsonSchema;
}

/** Returns an optional field of a URL query. */
export function inQuery<S extends v.GenericSchema>(
  { check, ...data }: Field<S>,
  more: JsonSchema = {},
): QueryField<S> {
  return { check: v.optional(check), doc: { ...schemaOfField(data), ...more } };
}

/** Returns a query field for a whole number, 0 or more. The caller must reduce a number above `maximum`. */
export function countInQuery(description: string, maximum?: number) {
  const [pattern, message] =
    maximum === undefined
      ? [/^\d{1,15}$/, "must be a whole number, 0 or more, with at most 15 digits"]
      : [/^\d+$/, "must be a whole number, 0 or more"];
  const check = v.pipe(v.string(), v.regex(pattern, message), v.transform(Number));
  const limits = maximum === undefined ? {} : { maximum };
  return { check: v.optional(check), doc: { type: "integer", minimum: 0, ...limits, description } };
}

/** Returns a query field for the size of a page. A number outside 1 to `maximum` becomes the nearest limit. */
export function pageSizeInQuery(description: string, maximum: number) {
  const check = v.pipe(
    v.string(),
    v.regex(/^\d+$/, "must be a whole number"),
    v.transform((text) => Math.min(Math.max(Number(text), 1), maximum)),
  );
  return { check: v.optional(check), doc: { type: "integer", minimum: 1, maximum, description } };
}

/** Returns a query field for a whole number. A number outside the limits is refused. */
export function countBetween(minimum: number, maximum: number, description: string) {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  const check = v.pipe(
    v.string(),
    v.regex(/^\d{1,6}$/, message),
    v.transform(Number),
    v.check((value) => value >= minimum && value <= maximum, message),
  );
  return { check: v.optional(check), doc: { type: "integer", minimum, maximum, description } };
}

export type QueryFields = Readonly<Record<string, { check: v.GenericSchema; doc: JsonSchema }>>;
type QueryInput<F extends QueryFields> = v.InferOutput<
  v.StrictObjectSchema<{ [K in keyof F]: F[K]["check"] }, undefined>
>;

/** Returns the checked query parameters. Throws InputError for an unknown, repeated or invalid parameter. */
export function readQuery<const F extends QueryFields>(
  request: HttpRequest,
  fields: F,
): QueryInput<F> {
  const query: Record<string, unknown> = Object.create(null);
  for (const [name, value] of request.query) {
    if (name in query) throw new InputError([{ path: name, message: "is given more than once" }]);
    query[name] = value;
  }
  const checks = Object.entries(fields).map(([name, { check }]) => [name, check]);
  return validate(strict(Object.fromEntries(checks)), query) as QueryInput<F>;
}
