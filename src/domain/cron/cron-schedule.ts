// Finds the times that a cron expression matches, in UTC. cron-fields.ts checks the expression. croner has
// a larger grammar, so it only gets plain lists.
import { Cron } from "croner";
import { InputError, type Problem } from "../../base/errors.ts";
import { canonicalField, FIELD_COUNT, fieldName } from "./cron-fields.ts";

export const MINUTE_MS = 60_000;

/** The minutes that an expression matches, in UTC. Times are milliseconds since the epoch. */
export interface CronSchedule {
  /** Returns the first match at or after `fromMs`; null if there is none, as for 30 February. */
  next(fromMs: number): number | null;
}

/**
 * Reads a five-field expression such as `0,30 8-17 * * 1-5`. If both the day of the month and the day of
 * the week are restricted, a day that matches either is a match (as in cron and Graphile Worker). Throws
 * InputError with all problems; a path such as `column 3` is the place.
 */
export function cronSchedule(expression: string): CronSchedule {
  const fields = [...expression.matchAll(/\S+/g)];
  if (fields.length !== FIELD_COUNT) throw new InputError(wrongCount(fields.length));
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
  return scheduleOf(canonical.join(" "));
}

function wrongCount(count: number): string {
  const names = Array.from({ length: FIELD_COUNT }, (_, place) => fieldName(place)).join(", ");
  return `has ${count} fields; expected ${FIELD_COUNT}: ${names}`;
}

function scheduleOf(canonical: string): CronSchedule {
  // An offset of 0 instead of the zone "UTC": same times, ten times as fast.
  const cron = new Cron(canonical, { mode: "5-part", utcOffset: 0, paused: true });
  return {
    // croner searches strictly after the given time.
    next: (fromMs) => cron.nextRun(new Date(fromMs - 1))?.getTime() ?? null,
  };
}
