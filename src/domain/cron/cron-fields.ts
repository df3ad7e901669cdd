// The five fields of a cron expression, in exactly Graphile Worker's grammar: numbers, a-b, *, */n, and
// lists of these; no names, no a-b/n. The same expressions are refused, so that a crontab means the same to
// every worker on the schema.

/** A problem in a text; `at` counts characters from 0. */
export interface TextProblem {
  readonly at: number;
  readonly message: string;
}

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** `most + 1` is another way to write `least`: 7 is Sunday, too. */
  readonly wraps?: true;
}

/** In the order of an expression. */
const fields: readonly Field[] = [
  { name: "minute", least: 0, most: 59 },
  { name: "hour", least: 0, most: 23 },
  { name: "day of the month", least: 1, most: 31 },
  { name: "month", least: 1, most: 12 },
  { name: "day of the week", least: 0, most: 6, wraps: true },
];

export const FIELD_COUNT = fields.length;

/** Further problems are not reported. */
export const MAX_PROBLEMS = 100;

export const fieldName = (index: number) => fields[index]?.name ?? "";

/**
 * Returns a field as an ascending list of its numbers, or `*` if it has them all. So `1-31` does not count
 * as a restriction when the two day fields are combined.
 */
export function canonicalField(
  index: number,
  text: string,
): { readonly field: string } | { readonly problems: readonly TextProblem[] } {
  const field = fields[index];
  if (field === undefined) throw new RangeError(`there is no field ${index}`);
  const numbers = new Set<number>();
  const problems: TextProblem[] = [];
  let at = 0;
  for (const part of text.split(",")) {
    const found = numbersOf(part, field);
    if (typeof found === "string") problems.push({ at, message: found });
    else for (const number of found) numbers.add(number);
    if (problems.length >= MAX_PROBLEMS) break;
    at += part.length + 1;
  }
  if (problems.length > 0) return { problems };
  const isFull = numbers.size === field.most - field.least + 1;
  return { field: isFull ? "*" : [...numbers].sort((a, b) => a - b).join(",") };
}

/** Returns the numbers of one part of a list, or a message. */
function numbersOf(part: string, field: Field): number[] | string {
  const { least, most } = field;
  const [, single, from, to, divisor] =
    /^(?:(\d+)|(\d+)-(\d+)|\*(?:\/(\d+))?)$/.exec(part) ?? NO_MATCH;
  if (single !== undefined) return inRange([Number(single)], field);
  if (from !== undefined) {
    const [first, last] = [Number(from), Number(to)];
    if (last <= first) return `the range "${part}" must ascend`;
    const ends = inRange([first, last], field);
    if (typeof ends === "string") return ends;
    return inRange(steps(first, last, 1), field);
  }
  if (part.startsWith("*") && (part === "*" || divisor !== undefined)) {
    const step = Number(divisor ?? 1);
    return step >= 1 ? steps(least, most, step) : `the step of "${part}" must be at least 1`;
  }
  return invalidPart(part, field);
}

const NO_MATCH: readonly (string | undefined)[] = [];

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

function invalidPart(part: string, { name, least, most }: Field): string {
  const expected = `expected a number from ${least} to ${most}, a range a-b, * or */n, or a list of these with commas`;
  if (part === "") return `the ${name} is missing; ${expected}`;
  if (/^\d+(-\d+)?\/\d+$/.test(part)) {
    return `"${part}" is not supported: only * takes a step; write the numbers as a list`;
  }
  if (/[a-z]/i.test(part)) {
    return `"${part}" is not a valid ${name} (names and macros are not supported); ${expected}`;
  }
  return `"${part}" is not a valid ${name}; ${expected}`;
}
