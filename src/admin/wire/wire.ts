// The fields of bodies and queries. They are read and documented from the same declarations
// (commands/declare/field.ts), so that check and document cannot differ.
import * as v from "valibot";
import { InputError } from "../../base/errors.ts";
import { jsonElements, jsonMembers } from "../../base/json-members.ts";
import { strict, validate } from "../../base/validate.ts";
import type { Field, FieldData } from "../../commands/declare/field.ts";
import { type HttpRequest, readJsonText } from "../../http/request.ts";
import { type JsonSchema, schemaOfField } from "./json-schema.ts";

/** Returns a body's members: a map from names to exact JSON texts. */
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

/** A query field with its schema. */
export interface QueryField<S extends v.GenericSchema = v.GenericSchema> {
  readonly check: v.OptionalSchema<S, undefined>;
  readonly doc: JsonSchema;
}

/** Returns an optional query field. An empty value is checked like any other text. */
export function inQuery<S extends v.GenericSchema>(
  { check, ...data }: Field<S>,
  more: JsonSchema = {},
): QueryField<S> {
  return { check: v.optional(check), doc: { ...schemaOfField(data), ...more } };
}

/**
 * Checks a whole number in a query, 0 or more. If there is a maximum, larger numbers are accepted and reduced later.
 */
export function countInQuery(description: string, maximum?: number) {
  const pattern = maximum === undefined ? /^\d{1,15}$/ : /^\d+$/;
  const check = v.pipe(
    v.string(),
    v.regex(pattern, "must be a whole number, 0 or more"),
    v.transform(Number),
  );
  const limits = maximum === undefined ? {} : { maximum };
  return { check: v.optional(check), doc: { type: "integer", minimum: 0, ...limits, description } };
}

/** Checks a whole number in a query. A number outside the limits is refused. */
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

/**
 * Returns the checked query parameters. Throws InputError for an unknown, repeated or invalid one, so that a
 * misspelt filter does not show everything.
 */
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
