// Texts of numbers, times and names, and the errors of jobs that failed through an action, a cancel or a deadline.
import { groupDigits } from "./portable/digits.ts";
import type { Value } from "./value.ts";

/** Returns a count such as `8,400`. */
export function numberText(count: number): string {
  return groupDigits(String(Math.trunc(count)));
}

/** Returns a value in a sentence: `8,400`, `≈ 8,400` or `at least 8,400`. */
export function valueText({ value, precision }: Value): string {
  if (precision === "exact") return numberText(value);
  return precision === "capped" ? `at least ${numberText(value)}` : `≈ ${numberText(value)}`;
}

/** Returns a value for a column or a list: `8,400`, `≈ 8,400` or `≥ 8,400`. */
export function shortValue({ value, precision }: Value): string {
  if (precision === "exact") return numberText(value);
  return `${precision === "capped" ? "≥" : "≈"} ${numberText(value)}`;
}

/** Returns a count with its noun: `1 job`, `480 jobs`, `≈ 480 jobs`, `at least 1 job`. */
export function countText(count: number | Value, one: string, more = `${one}s`): string {
  const [number, text] =
    typeof count === "number" ? [count, numberText(count)] : [count.value, valueText(count)];
  return `${text} ${Math.trunc(number) === 1 ? one : more}`;
}

/** Returns the beginning of a sentence: `Its only attempt is` or `All 25 attempts are`. */
export const allAttemptsAre = (count: number): string =>
  count === 1 ? "Its only attempt is" : `All ${numberText(count)} attempts are`;

/** Returns `1st`, `2nd`, `11th`. */
export function ordinal(count: number): string {
  const teens = count % 100 >= 11 && count % 100 <= 13;
  const ending = teens ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th");
  return `${numberText(count)}${ending}`;
}

/**
 * Returns a time for a sentence, RFC 3339: `2026-11-26T20:28:50Z`. After the word `at`, `since` or `until`, the page
 * shows the time as local time.
 */
export const momentText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

const MARKED = "Marked failed ";

/** The error of a job that was failed by hand without a reason. `where`: such as `from the command line`. */
export const markedFailed = (where: string): string => MARKED + where;

/** The error that the schema's function permanently_fail_jobs() sets if it is called without a reason. */
const BY_FUNCTION = "Manually marked as failed";

/** The error of a cancelled job. */
export const cancelledText = (reason: string | null): string =>
  reason === null ? "cancelled" : `cancelled: ${reason}`;

/** The error of a job whose deadline has passed. */
export const pastDeadline = (time: string): string => `the deadline ${time} has passed`;

/** Returns the deadline in an error of pastDeadline(), or in the label of an error group; null for any other text. */
export const deadlineIn = (error: string): string | null =>
  /^the deadline (\S{1,40}(?: ms)?) has passed(?:\n|$)/.exec(error)?.[1] ?? null;

/** Whether the error is that of a cancelled job. */
export const isCancelled = (error: string): boolean => /^cancelled(?:: |\n|$)/.test(error);

/** Matches, in JavaScript and PostgreSQL, the error of a job that was cancelled, or failed by hand without a reason. */
export const MARKED_FAILED = `^(?:${MARKED}|${BY_FUNCTION}|cancelled(?:: |\\n|$))`;

/** Matches, in JavaScript and PostgreSQL, the beginning of a recovery's error, such as `Recovered 3 times in a row: `. */
export const RECOVERED = "^Recovered(?: ([0-9]{1,5}) times in a row)?: ";

/** Whether an error matches MARKED_FAILED. */
export const isMarkedFailed = (error: string): boolean => new RegExp(MARKED_FAILED).test(error);

const MAX_NAME_LENGTH = 80;

/** Returns a worker's name for the start of a sentence. In a lock that was set by hand in SQL, the id may be empty. */
export function workerNamed(workerId: string): string {
  return workerId === "" ? "A worker without a name" : shortName(workerId);
}

/** Like workerNamed(), but within a sentence. */
export function byWorker(workerId: string): string {
  return workerId === "" ? "a worker without a name" : shortName(workerId);
}

/** Returns a name, shortened if it is very long. */
export function shortName(name: string): string {
  return name.length <= MAX_NAME_LENGTH
    ? name
    : `${name.slice(0, MAX_NAME_LENGTH).toWellFormed()}…`;
}
