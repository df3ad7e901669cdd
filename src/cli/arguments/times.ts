// Reads times and durations that users type as arguments.
import { now } from "../../base/clock.ts";
import { isMoment } from "../../domain/moment.ts";
import { InvalidValue } from "./refusals.ts";

/**
 * A string is `now` or RFC 3339 text. `afterMs`: a delay from now by the database's clock. `local`: a time typed in
 * this process's time zone.
 */
export type TimeArgument = string | { readonly afterMs: number } | { readonly local: Date };

const unitsMs: readonly (readonly [names: RegExp, ms: number])[] = [
  [/^(ms|msecs?|milliseconds?)$/, 1],
  [/^(s|secs?|seconds?)$/, 1_000],
  [/^(m|mins?|minutes?)$/, 60_000],
  [/^(h|hrs?|hours?)$/, 3_600_000],
  [/^(d|days?)$/, 86_400_000],
  [/^(w|weeks?)$/, 604_800_000],
];

const MAX_MS = 365 * 86_400_000;

const DURATION = "must be a duration such as 30s, 5m or 1h30m, up to a year";
const MOMENT =
  'must be "now", a time from now ("+10m", "in 2h"), a local day or time ("2026-01-31", "09:00", "tomorrow 09:00"), or an RFC 3339 time with a zone ("2026-01-31T08:00:00Z")';

/** Returns a duration in milliseconds. A plain number is in seconds. Throws InvalidValue. */
export function duration(typed: string): number {
  const ms = /^\d+(\.\d+)?$/.test(typed.trim()) ? Number(typed) * 1_000 : sumOfParts(typed);
  if (ms !== null && ms <= MAX_MS) return ms;
  throw new InvalidValue(DURATION);
}

/** Like duration(), but negative with a leading minus. */
export function signedDuration(typed: string): number {
  const [, sign, plain = ""] = /^([+-]?)(.*)$/s.exec(typed.trim()) ?? [];
  return duration(plain) * (sign === "-" ? -1 : 1);
}

export function moment(typed: string): TimeArgument {
  const plain = typed.trim();
  if (plain.toLowerCase() === "now") return "now";
  const afterMs = sumOfParts(plain.replace(/^(\+|in\s+)/i, ""));
  if (afterMs !== null) {
    if (afterMs > MAX_MS) throw new InvalidValue(MOMENT);
    return { afterMs };
  }
  if (isMoment(plain)) return plain;
  const local = localTime(plain, new Date(now()));
  if (local === null) throw new InvalidValue(MOMENT);
  return { local };
}

/** Returns RFC 3339 text, or `now`. `databaseMs`: the database's time, in milliseconds since 1970. */
export function momentText(when: TimeArgument, databaseMs: number): string {
  if (typeof when === "string") return when;
  return ("local" in when ? when.local : new Date(databaseMs + when.afterMs)).toISOString();
}

/** Returns a local time, such as `Fri, 27 Nov 2026, 09:00:00 GMT+1`. */
export function localText(at: Date): string {
  const date = { weekday: "short", day: "numeric", month: "short", year: "numeric" } as const;
  const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  return at.toLocaleString("en-GB", { ...date, ...clock, timeZoneName: "short" });
}

const LOCAL =
  /^(?:(today|tomorrow|\d{4}-\d\d-\d\d)(?:$|(?:\s+|t)(?=\d)))?(?:(\d{1,2}):(\d\d)(?::(\d\d))?)?$/i;

/**
 * Returns the time of a local date, a local time, or both; null for other texts. A date alone means the beginning of
 * the day. A time alone means its next occurrence after `from`.
 */
function localTime(typed: string, from: Date): Date | null {
  const [all, day, ...clock] = LOCAL.exec(typed) ?? [];
  const [hour = 0, minute = 0, second = 0] = clock.map((part) => Number(part ?? 0));
  if (!all || hour > 23 || minute > 59 || second > 59) return null;
  const at = new Date(from);
  if (day?.includes("-")) {
    if (!isMoment(`${day}T00:00:00Z`)) return null;
    const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
    at.setFullYear(year, month - 1, date);
  } else if (day?.toLowerCase() === "tomorrow") at.setDate(at.getDate() + 1);
  at.setHours(hour, minute, second, 0);
  if (day !== undefined || at > from) return at;
  at.setDate(at.getDate() + 1);
  at.setHours(hour, minute, second, 0);
  return at;
}

/** Returns the milliseconds of `1h30m`, `2 hours` or `1 day 6 h`; null for anything else. */
function sumOfParts(typed: string): number | null {
  const plain = typed.trim().toLowerCase();
  if (!/^(\d{1,18}(\.\d{1,18})?\s*[a-z]+\s*)+$/.test(plain)) return null;
  let sum = 0;
  for (const [, amount, name = ""] of plain.matchAll(/(\d{1,18}(?:\.\d{1,18})?)\s*([a-z]+)/g)) {
    const unit = unitsMs.find(([names]) => names.test(name));
    if (unit === undefined) return null;
    sum += Number(amount) * unit[1];
  }
  return Math.round(sum);
}
