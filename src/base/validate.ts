// Checks options and request bodies against valibot schemas.

import { distance } from "fastest-levenshtein";
import * as v from "valibot";
import { MAX_TIMER_MS } from "./clock.ts";
import { InputError, type Problem } from "./errors.ts";

/** Returns the checked input, or throws one InputError with the problems of the first MAX_PROBLEMS issues. */
export function validate<const S extends v.GenericSchema>(
  schema: S,
  input: unknown,
): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  throw new InputError(result.issues.slice(0, MAX_PROBLEMS).flatMap(problemsOf));
}

/** The maximum number of valibot issues in one error of validate(), and of problems in one error of checkEach(). */
export const MAX_PROBLEMS = 100;

/** Returns a schema for a list of at most `most` items. The items of a longer list are not checked. */
export const boundedList = <S extends v.GenericSchema>(
  item: S,
  message: string,
  most: number,
  tooMany = `must have at most ${most} items`,
) => v.pipe(v.array(v.unknown(), message), v.maxLength(most, tooMany), v.array(item, message));

/** Runs all checks and returns their results, or throws one InputError with all their problems. */
export function checkAll<const R extends readonly unknown[]>(
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

/**
 * Calls `check` with each item of a list. Throws one InputError with the problems of all items, at most MAX_PROBLEMS.
 * The path of a problem begins with the name of the list and the item's index, such as `jobs[3].spec`. `from`: the
 * index of the first item.
 */
export function checkEach<T>(
  name: string,
  items: readonly T[],
  from: number,
  check: (item: T) => void,
): void {
  const problems: Problem[] = [];
  for (const [index, item] of items.entries()) {
    try {
      check(item);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      for (const { path, message } of error.problems) {
        problems.push({
          path: `${name}[${from + index}]${path === "" ? "" : `.${path}`}`,
          message,
        });
      }
    }
  }
  if (problems.length > 0) throw new InputError(problems.slice(0, MAX_PROBLEMS));
}

type Issue = v.BaseIssue<unknown>;
type Path = readonly { readonly key: unknown }[];

function problemsOf(issue: Issue): Problem[] {
  if (issue.message.startsWith(KNOWN_PREFIX)) return unknownFields(issue);
  const path = pathOf(issue.path ?? []);
  const isMissing = issue.kind === "schema" && issue.received === "undefined" && path !== "";
  return [{ path, message: isMissing ? "is required" : issue.message }];
}

/** Valibot's issue names only one of the unknown fields. */
function unknownFields({ message, path = [] as never }: Issue): Problem[] {
  const { known, hints } = JSON.parse(message.slice(KNOWN_PREFIX.length)) as KnownFields;
  const last = path.at(-1);
  const names = new Set([String(last?.key), ...Object.keys(last?.input as object)]);
  return [...names]
    .filter((name) => !known.includes(name))
    .slice(0, MAX_UNKNOWN)
    .map((key) => ({
      path: pathOf([...path.slice(0, -1), { key }]),
      message: `unknown field${hintOf(key, hints) ?? didYouMean(key, known)}`,
    }));
}

const MAX_UNKNOWN = 100;

/** Returns a path such as `ids[2]` or `payload.to`. */
function pathOf(keys: Path): string {
  let path = "";
  for (const { key } of keys) {
    if (typeof key === "number") path += `[${key}]`;
    else path += path === "" ? String(key) : `.${String(key)}`;
  }
  return path;
}

// A valibot issue does not contain its schema. So the message of an issue about an unknown field is this prefix,
// followed by the KnownFields as JSON.
const KNOWN_PREFIX = "known:";

interface KnownFields {
  readonly known: readonly string[];
  readonly hints: Readonly<Record<string, string>>;
}

function hintOf(name: string, hints: KnownFields["hints"]): string | undefined {
  return Object.hasOwn(hints, name) ? `: ${hints[name]}` : undefined;
}

/**
 * Returns a schema for an object that may have only these fields. `hints`: advice about some unknown fields, by their
 * names. `noObject`: the message for a value that is not an object.
 */
export function strict<const E extends v.ObjectEntries>(
  entries: E,
  hints: Readonly<Record<string, string>> = {},
  noObject = "must be an object",
) {
  const fields: KnownFields = { known: Object.keys(entries), hints };
  const unknown = KNOWN_PREFIX + JSON.stringify(fields);
  return v.strictObject(entries, (issue) => (issue.expected === "never" ? unknown : noObject));
}

/** Returns a schema for a whole number from 1 to `most`. */
export const count = (most: number) =>
  v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(1, "must be at least 1"),
    v.maxValue(most, `must be at most ${most}`),
  );

/** A schema for a whole number of milliseconds, from 1 to the longest time of a timer. */
export const duration = count(MAX_TIMER_MS);

/** Like `duration`, but 0 is allowed. */
export const durationOrNone = v.pipe(
  v.number("must be a number"),
  v.integer("must be a whole number"),
  v.minValue(0, "must not be negative"),
  v.maxValue(MAX_TIMER_MS, `must be at most ${MAX_TIMER_MS}`),
);

/** Returns `, did you mean "queue"?` if a candidate is similar enough, otherwise an empty string. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const name = nearest(word, candidates);
  return name === null ? "" : `, did you mean "${name}"?`;
}

/** Returns the most similar candidate, ignoring case; null if none is similar enough. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  if (word.length > 64) return null;
  let best: string | null = null;
  let fewestEdits = Number.POSITIVE_INFINITY;
  for (const name of candidates) {
    const edits = distance(word.toLowerCase(), name.toLowerCase());
    if (edits >= fewestEdits) continue;
    best = name;
    fewestEdits = edits;
  }
  const length = best?.length ?? 0;
  const isNear = fewestEdits <= Math.max(2, Math.floor(length / 3));
  return isNear && fewestEdits < Math.max(word.length, length) ? best : null;
}
