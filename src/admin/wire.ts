// The fields of request bodies and queries: for each, the check and what the OpenAPI document says about it,
// in one declaration, so that the two cannot differ. Wire names are snake_case; an explicit null
// is the same as an absent field, except for exact JSON, where null is a value.
import * as v from "valibot";
import { InputError } from "../base/errors.ts";
import { jsonElements, jsonMembers } from "../base/json-members.ts";
import { strict, validate } from "../base/validate.ts";
import { attemptCount, attemptLimit, boundedText, smallint } from "../domain/job-spec.ts";
import { moment } from "../domain/moment.ts";
import { type HttpRequest, readJsonText } from "../http/request.ts";
import { isJobId, MAX_IDS } from "../queue/job-ids.ts";
import { seconds } from "../queue/worker-table.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Field<S extends v.GenericSchema = v.GenericSchema> {
  readonly check: S;
  readonly doc: JsonSchema;
  readonly isOptional: boolean;
  /** The check gets the member's exact JSON text instead of its value. */
  readonly isExact: boolean;
}

function field<S extends v.GenericSchema>(check: S, doc: JsonSchema, isExact = false): Field<S> {
  return { check, doc, isOptional: false, isExact };
}

/** May be absent or null, and is undefined then. */
export function optional<S extends v.GenericSchema>({ check, doc, isExact }: Field<S>) {
  const absent = v.transform((value: v.InferOutput<S> | null | undefined) => value ?? undefined);
  return {
    check: v.optional(v.pipe(v.nullish(check), absent)),
    doc: isExact ? doc : { ...doc, type: [doc["type"], "null"] },
    isOptional: true,
    isExact,
  };
}

export const text = (least: number, most: number) =>
  field(boundedText(least, most), { type: "string", minLength: least, maxLength: most });

export const notBlank = (most: number) =>
  field(
    v.pipe(
      boundedText(1, most),
      v.check((value) => value === "" || value.trim() !== "", "must not be blank"),
    ),
    { type: "string", minLength: 1, maxLength: most },
  );

export const boolean = field(v.boolean("must be true or false"), { type: "boolean" });

const range = (minimum: number, maximum: number) => ({ type: "integer", minimum, maximum });
export const priority = field(smallint, range(-32_768, 32_767));
export const attempts = field(attemptCount, range(0, 32_767));
export const maxAttempts = field(attemptLimit, range(1, 32_767));
export const duration = field(seconds, { type: "number", minimum: 0, description: "seconds" });
export const time = field(moment, { type: "string", format: "date-time" });

export const oneOf = <const T extends readonly string[]>(values: T) =>
  field(v.picklist(values, `must be one of ${values.join(", ")}`), {
    type: "string",
    enum: values,
  });

export const listOf = <S extends v.GenericSchema>(item: Field<S>, most: number) =>
  field(
    v.pipe(
      v.array(item.check, "must be a list"),
      v.maxLength(most, `must have at most ${most} items`),
    ),
    { type: "array", items: item.doc, maxItems: most },
  );

/** Any JSON, kept as its exact text. */
export const exactJson = field(v.string(), { description: "any JSON, kept byte for byte" }, true);

/** Job ids as JSON integers, exact beyond 2^53. */
export const jobIds = field(
  v.pipe(
    v.string(),
    v.transform(jsonElements),
    v.array(
      v.custom<string>(isJobId, "must be a job id: a whole number from 1 to 9223372036854775807"),
      "must be a list of job ids",
    ),
    v.minLength(1, "must list at least one job id"),
    v.maxLength(MAX_IDS, `must have at most ${MAX_IDS} ids; split them into several requests`),
  ),
  {
    type: "array",
    items: { type: "integer", format: "int64", minimum: 1 },
    minItems: 1,
    maxItems: MAX_IDS,
  },
  true,
);

export type Fields = Readonly<Record<string, Field>>;
type Checks<F extends Fields> = { [K in keyof F]: F[K]["check"] };
export type Input<F extends Fields> = v.InferOutput<v.StrictObjectSchema<Checks<F>, undefined>>;

/** The checked body of a request; throws InputError with all problems, each with its field. */
export async function readInput<const F extends Fields>(
  request: HttpRequest,
  fields: F,
  limit: number,
): Promise<Input<F>> {
  // No prototype: a member called __proto__ is a member like any other, and unknown.
  const body: Record<string, unknown> = Object.create(null);
  for (const [name, value] of jsonMembers(await readJsonText(request, limit))) {
    const isExact = Object.hasOwn(fields, name) && fields[name]?.isExact === true;
    body[name] = isExact ? value : JSON.parse(value);
  }
  const checks = Object.entries(fields).map(([name, { check }]) => [name, check]);
  return validate(strict(Object.fromEntries(checks) as Checks<F>), body) as Input<F>;
}

const digits = (pattern: RegExp) =>
  v.pipe(v.string(), v.regex(pattern, "must be a whole number, 0 or more"), v.transform(Number));

/** A number in a query. */
export const count = field(digits(/^\d{1,15}$/), { type: "integer", minimum: 0 });

/** A number in a query that is capped anyway, so that it may have any size. */
export const cappedCount = field(digits(/^\d+$/), { type: "integer", minimum: 0 });

/**
 * The checked query parameters. One that is unknown or there twice is refused: a filter that was
 * misspelt must not show everything. One without a value is the same as none.
 */
export function readQuery<const F extends Fields>(request: HttpRequest, fields: F): Input<F> {
  const query: Record<string, unknown> = Object.create(null);
  for (const [name, value] of request.query) {
    if (name in query) throw new InputError([{ path: name, message: "is there more than once" }]);
    query[name] = value;
  }
  for (const name in query) if (query[name] === "") delete query[name];
  const checks = Object.entries(fields).map(([name, { check }]) => [name, check]);
  return validate(strict(Object.fromEntries(checks) as Checks<F>), query) as Input<F>;
}

/** The JSON Schema of a body. */
export function documentOf(fields: Fields): JsonSchema {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, { doc }]) => [name, doc])),
    required: entries.filter(([, { isOptional }]) => !isOptional).map(([name]) => name),
    additionalProperties: false,
  };
}
