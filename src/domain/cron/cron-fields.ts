// The five fields of a cron expression. Numbers, a-b, *, */n and lists of these mean the same as in Graphile Worker.
// Names, a-b/n, L and macros such as @daily are additions.

import { didYouMean } from "../../base/validate.ts";

/** A problem in a text. `at`: the index of the character at which the problem begins, from 0. */
export interface TextProblem {
  readonly at: number;
  readonly message: string;
}

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** `most + 1` is another spelling of `least`: 7 also means Sunday. */
  readonly wraps?: true;
  /** Names of the numbers, from `least` on. */
  readonly names?: readonly string[];
  /** Whether `L`, the last day of the month, is allowed. */
  readonly hasLast?: true;
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const WEEKDAYS = "sun mon tue wed thu fri sat".split(" ");

const fields: readonly Field[] = [
  { name: "minute", least: 0, most: 59 },
  { name: "hour", least: 0, most: 23 },
  { name: "day of the month", least: 1, most: 31, hasLast: true },
  { name: "month", least: 1, most: 12, names: MONTHS },
  { name: "day of the week", least: 0, most: 6, wraps: true, names: WEEKDAYS },
];

export const FIELD_COUNT = fields.length;

/** The number of problems after which no more are reported. */
export const MAX_PROBLEMS = 100;

const MAX_FIELD_LENGTH = 500;
/** The longest expression, in UTF-16 units. */
export const MAX_EXPRESSION_LENGTH = 3_000;

export const fieldName = (index: number) => fields[index]?.name ?? "";

const macros: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/** Returns the five fields of a macro such as `@daily`; any other text is returned unchanged. */
export function withoutMacro(expression: string): string {
  const name = expression.trim();
  return Object.hasOwn(macros, name) ? (macros[name] ?? "") : expression;
}

/** Returns what is wrong with a word that begins with @; null if the word is a macro. */
export function macroProblem(word: string): string | null {
  const names = Object.keys(macros);
  if (names.includes(word)) return null;
  return `"${word}" is not supported${didYouMean(word, names)}; expected ${names.join(", ")} or five fields`;
}

/**
 * Returns the normal form of a valid field: an ascending list of the field's numbers, then `L` if the field contains
 * `L`. If all numbers match, the form is `*`, so that `1-31` as the day of the month does not count as a restriction.
 */
export function canonicalField(
  index: number,
  text: string,
): { readonly field: string } | { readonly problems: readonly TextProblem[] } {
  const field = fields[index];
  if (field === undefined) throw new RangeError(`there is no field ${index}`);
  if (text.length > MAX_FIELD_LENGTH) {
    return { problems: [{ at: 0, message: `is longer than ${MAX_FIELD_LENGTH} characters` }] };
  }
  const numbers = new Set<number>();
  const isLast = (part: string) => field.hasLast && /^l$/i.test(part);
  const parts = text.split(",");
  const problems: TextProblem[] = [];
  let at = 0;
  for (const part of parts) {
    const found = isLast(part) ? [] : numbersOf(part, field);
    if (typeof found === "string") problems.push({ at, message: found });
    else for (const number of found) numbers.add(number);
    if (problems.length >= MAX_PROBLEMS) break;
    at += part.length + 1;
  }
  if (problems.length > 0) return { problems };
  const isFull = numbers.size === field.most - field.least + 1;
  if (isFull) return { field: "*" };
  const last = parts.some(isLast) ? ["L"] : [];
  return { field: [...[...numbers].sort((a, b) => a - b), ...last].join(",") };
}

function numbersOf(part: string, field: Field): number[] | string {
  const { least, most } = field;
  const [, from = "", to, divisor] = /^(\*|[^-/]+)(?:-([^-/]+))?(?:\/(\d+))?$/.exec(part) ?? [];
  const step = Number(divisor ?? 1);
  if (from === "*" && to === undefined) {
    return step >= 1 ? steps(least, most, step) : `the step of "${part}" must be at least 1`;
  }
  const first = numberOf(from, field);
  if (first === null) return invalidPart(part, field);
  if (to === undefined) return divisor === undefined ? inRange([first], field) : unsteppable(part);
  const last = numberOf(to, field);
  if (last === null) return invalidPart(part, field);
  // At the end of a range such as fri-sun, the name `sun` means 7.
  const end = field.wraps && last === least && !/\d/.test(to) ? most + 1 : last;
  if (end <= first) return `the range "${part}" must ascend`;
  const ends = inRange([first, end], field);
  if (typeof ends === "string") return ends;
  return step >= 1
    ? inRange(steps(first, end, step), field)
    : `the step of "${part}" must be at least 1`;
}

function numberOf(text: string, { least, names = [] }: Field): number | null {
  if (/^\d+$/.test(text)) return Number(text);
  const place = names.indexOf(text.toLowerCase());
  return place < 0 ? null : least + place;
}

function steps(first: number, last: number, step: number): number[] {
  const numbers: number[] = [];
  for (let number = first; number <= last; number += step) numbers.push(number);
  return numbers;
}

function inRange(numbers: readonly number[], field: Field): number[] | string {
  const { name, least, most, wraps } = field;
  const wrapped = numbers.map((number) => (wraps && number === most + 1 ? least : number));
  const wrong = wrapped.find((number) => number < least || number > most);
  if (wrong === undefined) return wrapped;
  return `${wrong} is not a valid ${name} (${least}-${most})`;
}

const unsteppable = (part: string) =>
  `"${part}" is not supported: only * and a range a-b take a step`;

function invalidPart(part: string, { name, least, most, names, hasLast }: Field): string {
  const named = names === undefined ? "" : `, a name (${names.join(", ")})`;
  const last = hasLast ? ", L (the last day)" : "";
  const expected = `expected a number from ${least} to ${most}${named}${last}, a range a-b, *, a step */n or a-b/n, or a list of these with commas`;
  if (part === "") return `the ${name} is missing; ${expected}`;
  return `"${part}" is not a valid ${name}; ${expected}`;
}
