// Finds the times that a cron expression matches, with the package croner. croner accepts more expressions than this
// library, so croner gets only the normal form that canonicalField() returns.
import { Cron } from "croner";
import { InputError, type Problem } from "../../base/errors.ts";
import { countText } from "../words.ts";
import {
  canonicalField,
  FIELD_COUNT,
  fieldName,
  MAX_EXPRESSION_LENGTH,
  macroProblem,
  withoutMacro,
} from "./cron-fields.ts";
import { zoneProblem } from "./time-zone.ts";

export const MINUTE_MS = 60_000;

/** The minutes that an expression matches. Times are milliseconds since the epoch. */
export interface CronSchedule {
  /** Returns the first match at or after `fromMs`; null if there is none, as for 30 February. */
  next(fromMs: number): number | null;
}

/**
 * Returns the schedule of a macro such as `@daily` or of a five-field expression such as `0,30 8-17 * * 1-5`. If both
 * the day of the month and the day of the week are restricted, a day has to match only one of them, as in cron.
 *
 * A time is fixed if the fields of minute and hour have no `*` and no step, or match one number each. A field that
 * matches all its numbers, such as the hour `0-23`, counts as `*`. When a zone's clock changes, a fixed time matches
 * once: a repeated time when it first occurs, a skipped time at the end of the gap. All other times match in both
 * passes of a repeated hour, and not in a skipped hour.
 *
 * Throws InputError for an invalid expression or zone. Problems of fields have paths such as `column 3`.
 */
export function cronSchedule(expression: string, timeZone = "UTC"): CronSchedule {
  const name = `${timeZone} ${expression}`;
  const cached = cache.get(name);
  if (cached !== undefined) return cached;
  const schedule = readExpression(expression, timeZone);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(name, schedule);
  return schedule;
}

/** Entries are read repeatedly, and many have the same expression. */
const cache = new Map<string, CronSchedule>();
const MAX_CACHED = 1_000;

function readExpression(expression: string, timeZone: string): CronSchedule {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    throw new InputError(`is longer than ${MAX_EXPRESSION_LENGTH} characters`);
  }
  const words = withoutMacro(expression);
  const fields = [...words.matchAll(/\S+/g)];
  if (fields.length !== FIELD_COUNT) {
    const [first] = fields[0] ?? [""];
    const macro = first.startsWith("@") ? macroProblem(first) : null;
    throw new InputError(macro ?? wrongCount(fields.length));
  }
  const problems: Problem[] = [];
  const canonical = fields.map(({ 0: text, index }, place) => {
    const result = canonicalField(place, text);
    if ("field" in result) return result.field;
    for (const { at, message } of result.problems) {
      problems.push({ path: `column ${index + at + 1}`, message });
    }
    return "*";
  });
  if (problems.length > 0) throw new InputError(problems);
  if (neverMatches(canonical)) return { next: () => null };
  const isFixed = fields.slice(0, 2).every(([text]) => !/[*/]/.test(text));
  return scheduleOf(canonical.join(" "), isFixed, timeZone);
}

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether the fields match only days such as 30 February, for which croner would search all years. */
function neverMatches([, , days = "", months = "", weekdays = ""]: readonly string[]): boolean {
  if (days === "*" || weekdays !== "*" || days.includes("L")) return false;
  const first = Number(days.split(",", 1)[0]);
  const listed = months === "*" ? DAYS : months.split(",").map((month) => DAYS[Number(month) - 1]);
  return listed.every((most = 0) => first > most);
}

function wrongCount(count: number): string {
  const names = Array.from({ length: FIELD_COUNT }, (_, place) => fieldName(place)).join(", ");
  const fields = countText(count, "field");
  return `has ${fields}; expected ${FIELD_COUNT}: ${names}`;
}

function scheduleOf(canonical: string, isFixed: boolean, timeZone: string): CronSchedule {
  const cron = new Cron(canonical, {
    mode: "5-part",
    paused: true,
    // An offset of 0 instead of the zone "UTC" gives the same times, ten times as fast.
    ...(timeZone === "UTC" ? { utcOffset: 0 } : { timezone: checkedZone(timeZone) }),
    // croner gets steps as lists of numbers. A list is a fixed time with "no-wildcard", but not with "single-value".
    fixedTimeRule: isFixed ? "no-wildcard" : "single-value",
  });
  return {
    // croner searches only after the given time.
    next: (fromMs) => cron.nextRun(new Date(fromMs - 1))?.getTime() ?? null,
  };
}

function checkedZone(timeZone: string): string {
  const problem = zoneProblem(timeZone);
  if (problem !== null) throw new InputError(problem);
  return timeZone;
}
