// The fields of commands. The names of fields are those of the HTTP API, in snake_case.
import * as v from "valibot";
import { boundedList, count } from "../../base/validate.ts";
import { isJobId, MAX_IDS } from "../../domain/job-ids.ts";
import { attemptCount, attemptLimit, boundedText, smallint } from "../../domain/job-spec.ts";
import { moment } from "../../domain/moment.ts";
import { workerId } from "../../queue/workers/worker-table.ts";

/** The kind of a value: `ids` are job ids as decimal strings, `json` is JSON as its exact text. */
export type CommandFieldKind =
  | "text"
  | "integer"
  | "seconds"
  | "boolean"
  | "time"
  | "choice"
  | "json"
  | "ids"
  | "list";

/** A field as data. */
export interface FieldData {
  readonly kind: CommandFieldKind;
  readonly label: string;
  /** The purpose, as a phrase without a full stop. */
  readonly about: string;
  readonly isRequired: boolean;
  /** Whether null means absent. */
  readonly isNullable: boolean;
  /** The bounds of a number, of the length of a text, or of the number of ids or list items. */
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  readonly item?: FieldData;
  /** The value if the field is absent: as users type it, or a description such as `all three cleanups`. */
  readonly default?: string;
  /** A valid text, for fields in which not every text is valid. */
  readonly example?: string;
  /** The text that replaces `about` on the command line. */
  readonly shellAbout?: string;
  /** The value that the command line sends if the option is not typed. Default: none. */
  readonly shellDefault?: string;
  /** For a list: the values if the option is typed without a value. */
  readonly whenBare?: readonly string[];
  /** Whether an absent field means everything. If true, the command line requires the field's option or --all. */
  readonly isAllWhenAbsent?: boolean;
  /** Whether the OpenAPI document and the command line omit the field. Requests may have it. */
  readonly isHidden?: boolean;
  /** The name of the command-line option, without leading dashes. Default: the field's name with `-` for `_`. */
  readonly option?: string;
  /** Other names of the option. */
  readonly optionAliases?: readonly string[];
}

/** A field with its validation. */
export interface Field<S extends v.GenericSchema = v.GenericSchema> extends FieldData {
  readonly check: S;
}

export type CommandFields = Readonly<Record<string, Field>>;
type Checks<F extends CommandFields> = { [K in keyof F]: F[K]["check"] };
/** The validated values of fields. */
export type Input<F extends CommandFields> = v.InferOutput<
  v.StrictObjectSchema<Checks<F>, undefined>
>;

/** Returns the validation of each field, for an object schema of valibot. */
export function checksOf<const F extends CommandFields>(fields: F): Checks<F> {
  const checks = Object.entries(fields).map(([name, { check }]) => [name, check]);
  return Object.fromEntries(checks) as Checks<F>;
}

type Details = Partial<Omit<FieldData, "kind" | "label" | "about">>;

function field<S extends v.GenericSchema>(
  kind: CommandFieldKind,
  [label, about]: readonly [string, string],
  check: S,
  details: Details = {},
): Field<S> {
  return { kind, label, about, isRequired: true, isNullable: false, ...details, check };
}

/** Returns the field as optional. null is treated as absent. */
export function optional<S extends v.GenericSchema>(given: Field<S>, details: Details = {}) {
  const absent = v.transform((value: v.InferOutput<S> | null | undefined) => value ?? undefined);
  const check = v.optional(v.pipe(v.nullish(given.check), absent));
  return { ...given, ...details, isRequired: false, isNullable: true, check };
}

/** Returns the field as optional. null is rejected: absence has a large effect, and null may be a mistake. */
export function absentOnly<S extends v.GenericSchema>(given: Field<S>, details: Details = {}) {
  return { ...given, ...details, isRequired: false, check: v.optional(given.check) };
}

type Words = readonly [label: string, about: string];

export const text = (words: Words, min: number, max: number, details: Details = {}) =>
  field("text", words, boundedText(min, max), { min, max, ...details });

/** Returns a field for text that is not blank. */
export const name = (words: Words, max: number, details: Details = {}) => {
  const isBlank = (value: string) => value !== "" && value.trim() === "";
  const check = v.pipe(
    boundedText(1, max),
    v.check((value) => !isBlank(value), "must not be blank"),
  );
  return field("text", words, check, { min: 1, max, ...details });
};

export const flag = (words: Words, details: Details = {}) =>
  field("boolean", words, v.boolean("must be true or false"), details);

const YEAR_SECS = 31_536_000;

const seconds = v.pipe(
  v.number("must be a number of seconds"),
  v.check((secs) => secs >= 0 && secs <= YEAR_SECS, `must be from 0 to ${YEAR_SECS} seconds`),
);

/** Returns a field for a duration in seconds, up to a year. */
export const duration = (words: Words, details: Details = {}) =>
  field("seconds", words, seconds, { min: 0, max: YEAR_SECS, ...details });

/** Returns a field for a signed duration in seconds, up to a year. */
export const shift = (words: Words, details: Details = {}) => {
  const check = v.pipe(
    v.number("must be a number of seconds"),
    v.check(
      (secs) => Math.abs(secs) <= YEAR_SECS,
      `must be from -${YEAR_SECS} to ${YEAR_SECS} seconds`,
    ),
  );
  return field("seconds", words, check, { min: -YEAR_SECS, max: YEAR_SECS, ...details });
};

const NOW_OR_TIME = 'must be "now" or an RFC 3339 time with a zone, such as 2026-01-31T08:00:00Z';

/** Returns a field for a time: RFC 3339 text, or `now` by the database's clock. */
export const time = (words: Words, details: Details = {}) =>
  field("time", words, v.union([v.literal("now"), moment], NOW_OR_TIME), details);

/** Returns a field with these choices. In the input, underscores may replace the dashes. */
export const choice = <const T extends readonly string[]>(
  words: Words,
  choices: T,
  details: Details = {},
) => {
  const dashed = (value: unknown) =>
    typeof value === "string" && choices.includes(value.replaceAll("_", "-"))
      ? value.replaceAll("_", "-")
      : value;
  const known = v.picklist(choices, `must be one of ${choices.join(", ")}`);
  const check = v.pipe(v.unknown(), v.transform(dashed), known);
  return field("choice", words, check, { choices, ...details });
};

export const list = <S extends v.GenericSchema>(
  words: Words,
  item: Field<S>,
  max: number,
  details: Details = {},
) => {
  const { check: itemCheck, ...data } = item;
  const check = boundedList(itemCheck, "must be a list", max);
  return field("list", words, check, { item: data, max, ...details });
};

/** Returns a field for any JSON, as its exact text. */
export const json = (words: Words, details: Details = {}) =>
  field("json", words, v.string(), details);

export const revision = field(
  "integer",
  ["Revision", "change the schedule only if it still has this revision"],
  count(2_147_483_647),
  { min: 1, max: 2_147_483_647 },
);

/** Returns a field for a whole number. */
export const whole = (words: Words, min: number, max: number, details: Details = {}) => {
  const check = v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );
  return field("integer", words, check, { min, max, ...details });
};

export const priority = field("integer", ["Priority", "lower runs earlier"], smallint, {
  min: -32_768,
  max: 32_767,
});

export const attempts = field("integer", ["Attempts used", "attempts made so far"], attemptCount, {
  min: 0,
  max: 32_767,
});

export const maxAttempts = field(
  "integer",
  ["Max attempts", "attempts before the job counts as failed"],
  attemptLimit,
  { min: 1, max: 32_767 },
);

export const jobIds = field(
  "ids",
  ["Jobs", "ids of the jobs"],
  v.pipe(
    boundedList(
      v.custom<string>(isJobId, "must be a job id: a whole number from 1 to 9223372036854775807"),
      "must be a list of job ids",
      MAX_IDS,
      `must have at most ${MAX_IDS} ids; split them into several requests`,
    ),
    v.minLength(1, "must list at least one job id"),
  ),
  { min: 1, max: MAX_IDS },
);

const oneWorker = field("text", ["Worker", "id of a worker"], workerId, { min: 1, max: 1_024 });

export const workerIds = field(
  "list",
  ["Workers", "ids of the workers"],
  v.pipe(
    v.nullish(boundedList(oneWorker.check, "must be a list", 1_000), []),
    v.minLength(1, "must name at least one worker id"),
  ),
  { item: oneWorker, min: 1, max: 1_000 },
);
