// When a cron expression matches, in UTC. Which texts are right is for cron-fields.ts to say; the
// library croner, which knows a larger grammar, only ever sees plain lists and finds the next time.
import { Cron } from "croner";
import { InputError, type Problem } from "../../base/errors.ts";
import { canonicalField, FIELD_COUNT, fieldName } from "./cron-fields.ts";

export const MINUTE_MS = 60_000;

/** The minutes at which an expression matches, UTC. Times are milliseconds since the epoch. */
export interface CronSchedule {
  /** The first match at or after `fromMs`; null when there is none, as for 30 February. */
  next(fromMs: number): number | null;
}

/**
 * Reads a five-field expression such as `0,30 8-17 * * 1-5`. When both the day of the month and the
 * day of the week are restricted, either will do (cron's old rule, and Graphile Worker's).
 * Throws InputError with all problems; a path such as `column 3` says where.
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
  // An offset of 0 rather than the zone "UTC": the same times, ten times as fast.
  const cron = new Cron(canonical, { mode: "5-part", utcOffset: 0, paused: true });
  return {
    // croner looks strictly after the time that it is given.
    next: (fromMs) => cron.nextRun(new Date(fromMs - 1))?.getTime() ?? null,
  };
}
