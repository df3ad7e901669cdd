// Checks options and bodies against a valibot schema and reports every problem at once, with a
// "did you mean" for a misspelt name. The only file that knows how valibot words its issues.

import { distance } from "fastest-levenshtein";
import * as v from "valibot";
import { LONGEST_TIMER_MS } from "./clock.ts";
import { InputError, type Problem } from "./errors.ts";

/** The checked input; throws InputError that lists all problems. */
export function validate<const S extends v.GenericSchema>(
  schema: S,
  input: unknown,
): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  throw new InputError(result.issues.slice(0, MOST_PROBLEMS).flatMap(problems));
}

/** More are not reported. */
const MOST_PROBLEMS = 100;

/**
 * A list of at most `most` items. Its length is checked first: the items of a list that is too long are not
 * looked at, however many there are.
 */
export const boundedList = <S extends v.GenericSchema>(
  item: S,
  message: string,
  most: number,
  tooMany = `must have at most ${most} items`,
) => v.pipe(v.array(v.unknown(), message), v.maxLength(most, tooMany), v.array(item, message));

/** The results of all checks, or one InputError with the problems of all. */
export function together<const R extends readonly unknown[]>(
  ...checks: { readonly [K in keyof R]: () => R[K] }
): R {
  const problems: Problem[] = [];
  const results = checks.map((check) => {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      for (const problem of error.problems) problems.push(problem);
      return undefined;
    }
  });
  if (problems.length > 0) throw new InputError(problems);
  return results as unknown as R;
}

type Issue = v.BaseIssue<unknown>;
type Path = readonly { readonly key: unknown }[];

function problems(issue: Issue): Problem[] {
  if (issue.message.startsWith(KNOWN)) return unknownFields(issue);
  const path = pathOf(issue.path ?? []);
  const isMissing = issue.kind === "schema" && issue.received === "undefined" && path !== "";
  return [{ path, message: isMissing ? "is required" : issue.message }];
}

/** valibot stops at the first unknown field of an object; the others are told, too. */
function unknownFields({ message, path = [] as never }: Issue): Problem[] {
  const { known, hints } = JSON.parse(message.slice(KNOWN.length)) as KnownFields;
  const last = path.at(-1);
  const names = new Set([String(last?.key), ...Object.keys(last?.input as object)]);
  return [...names]
    .filter((name) => !known.includes(name))
    .slice(0, MOST_UNKNOWN)
    .map((key) => ({
      path: pathOf([...path.slice(0, -1), { key }]),
      message: `unknown field${hintOf(key, hints) ?? didYouMean(key, known)}`,
    }));
}

const MOST_UNKNOWN = 100;

/** `ids[2]`, `payload.to`: the way that the user would write it. */
function pathOf(keys: Path): string {
  let path = "";
  for (const { key } of keys) {
    if (typeof key === "number") path += `[${key}]`;
    else path += path === "" ? String(key) : `.${String(key)}`;
  }
  return path;
}

// An issue does not carry its schema, so the known names travel in the message.
const KNOWN = "known:";

interface KnownFields {
  readonly known: readonly string[];
  readonly hints: Readonly<Record<string, string>>;
}

function hintOf(name: string, hints: KnownFields["hints"]): string | undefined {
  return Object.hasOwn(hints, name) ? `: ${hints[name]}` : undefined;
}

/**
 * A strict object whose unknown fields are reported with the nearest known name, or with a hint of its
 * own for a name that users of something else bring along.
 */
export function strict<const E extends v.ObjectEntries>(
  entries: E,
  hints: Readonly<Record<string, string>> = {},
) {
  const fields: KnownFields = { known: Object.keys(entries), hints };
  const unknown = KNOWN + JSON.stringify(fields);
  return v.strictObject(entries, (issue) =>
    issue.expected === "never" ? unknown : "must be an object",
  );
}

/** A whole number from 1 to `most`. */
export const count = (most: number) =>
  v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(1, "must be at least 1"),
    v.maxValue(most, `must be at most ${most}`),
  );

/** Milliseconds, as many as a timer can wait. */
export const duration = count(LONGEST_TIMER_MS);

/** The same or 0, which means something of its own. */
export const durationOrNone = v.pipe(
  v.number("must be a number"),
  v.integer("must be a whole number"),
  v.minValue(0, "must not be negative"),
  v.maxValue(LONGEST_TIMER_MS, `must be at most ${LONGEST_TIMER_MS}`),
);

/** `, did you mean "queue"?` when one of `known` is near enough, else nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const name = nearest(word, known);
  return name === null ? "" : `, did you mean "${name}"?`;
}

/** The one of `known` that was probably meant, whatever its case; null when none is near enough. */
export function nearest(word: string, known: readonly string[]): string | null {
  if (word.length > 64) return null;
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const steps = distance(word.toLowerCase(), name.toLowerCase());
    if (steps >= least) continue;
    best = name;
    least = steps;
  }
  const length = best?.length ?? 0;
  const isNear = least <= Math.max(2, Math.floor(length / 3));
  return isNear && least < Math.max(word.length, length) ? best : null;
}
