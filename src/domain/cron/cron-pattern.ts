// Patterns for cronEntry() without the syntax of cron: daily("02:30"), every({ minutes: 5 }).
import * as v from "valibot";
import { InputError } from "../../base/errors.ts";
import { strict, validate } from "../../base/validate.ts";
import { timeZone, zoneHints } from "./time-zone.ts";

/** The times at which a cron entry adds jobs. */
export interface CronPattern {
  /** The five-field cron expression. */
  readonly expression: string;
  /** The IANA time zone of the expression. Default: as in CronPatternOptions. */
  readonly timeZone?: string | undefined;
}

/** Options of a pattern. */
export interface CronPatternOptions {
  /** An IANA time zone such as `Europe/Berlin`. Default: the time zone in the entry's options; without one, UTC. */
  readonly timeZone?: string | undefined;
}

/** The argument of every(): a number of minutes or of hours. */
export type CronInterval = { readonly minutes: number } | { readonly hours: number };

/**
 * Returns the pattern that matches once a day, at `time`, such as `02:30`. If a change of the clocks repeats `time`,
 * the first occurrence matches. If a change skips `time`, the end of the gap matches. Throws InputError for invalid
 * arguments.
 */
export function daily(time: string, options: CronPatternOptions = {}): CronPattern {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(time) ?? [];
  if (hour === undefined || minute === undefined) {
    const message = "must be a time of the day from 00:00 to 23:59, such as 02:30";
    throw new InputError([{ path: "time", message }]);
  }
  return pattern(`${Number(minute)} ${Number(hour)} * * *`, options);
}

const MINUTES = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30];
const HOURS = [1, 2, 3, 4, 6, 8, 12];

/**
 * Returns the pattern that matches every `minutes` minutes, counted from the full hour, or every `hours` hours, counted
 * from midnight. `minutes` must be 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30. `hours` must be 1, 2, 3, 4, 6, 8 or 12.
 * Throws InputError for invalid arguments.
 */
export function every(interval: CronInterval, options: CronPatternOptions = {}): CronPattern {
  const [[unit, step] = [], ...more] = Object.entries(interval ?? {});
  if ((unit !== "minutes" && unit !== "hours") || more.length > 0) {
    const message = "must have either minutes or hours, such as { minutes: 5 }";
    throw new InputError([{ path: "interval", message }]);
  }
  const steps = unit === "minutes" ? MINUTES : HOURS;
  if (step === undefined || !steps.includes(step)) {
    const whole = unit === "minutes" ? "an hour" : "a day";
    const message = `must be ${steps.slice(0, -1).join(", ")} or ${steps.at(-1)}, because ${whole} must contain a whole number of them; for other steps write an expression with cronEntry()`;
    throw new InputError([{ path: unit, message }]);
  }
  return pattern(unit === "minutes" ? `*/${step} * * * *` : `0 */${step} * * *`, options);
}

const optionsSchema = strict({ timeZone: v.optional(timeZone) }, zoneHints);

function pattern(expression: string, options: CronPatternOptions): CronPattern {
  return Object.freeze({ expression, ...validate(optionsSchema, options) });
}
