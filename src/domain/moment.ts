// Checks times from callers, and computes the value that PostgreSQL stores for a time.
import * as v from "valibot";

// RFC 3339 with a required zone, because PostgreSQL would read a time without a zone in the time zone of the session.
// PostgreSQL rejects the year 0 and zones beyond 15:59.
const RFC3339 =
  /^((?!0000)\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?(?:[Zz]|([+-](?:0\d|1[0-5])):?(\d\d))$/;

/** A time: a Date, or RFC 3339 text with a time zone; years 1–9999. The result is RFC 3339 text. */
export const moment = v.pipe(
  v.union(
    [v.date(), v.string()],
    "must be a Date or an RFC 3339 time such as 2026-01-31T08:00:00Z",
  ),
  v.check(
    (value) => isMoment(momentText(value)),
    "must be an RFC 3339 time with a zone, such as 2026-01-31T08:00:00Z",
  ),
  v.transform(momentText),
);

/** Returns an empty text for an invalid Date. */
function momentText(value: Date | string): string {
  return value instanceof Date ? (value.toJSON() ?? "") : value;
}

/** Whether the text is an RFC 3339 time with a zone, and PostgreSQL can store this time. The seconds may be absent. */
export function isMoment(text: string): boolean {
  return RFC3339.test(text) && !Number.isNaN(Date.parse(text)) && isRealDay(text);
}

/** Whether the month has the day: Date.parse() reads 31 February as a day of March. */
function isRealDay(text: string): boolean {
  const [year, month, day] = text.split(/[-Tt ]/, 3).map(Number);
  const date = new Date(Date.UTC(2000, (month ?? 0) - 1, day));
  date.setUTCFullYear(year ?? 0, (month ?? 0) - 1, day);
  return date.getUTCDate() === day;
}

/** Returns the microseconds since 1970 of a time that isMoment() accepts, rounded half to even as in PostgreSQL. */
export function microsecondsOf(text: string): bigint {
  const [, day, time, seconds = ":00", fraction = ".0", zoneHours, zoneMinutes] =
    RFC3339.exec(text) ?? [];
  const zone = zoneHours === undefined ? "Z" : `${zoneHours}:${zoneMinutes}`;
  const wholeMs = Date.parse(`${day}T${time}${seconds}${zone}`);
  return BigInt(wholeMs) * 1000n + BigInt(halfToEven(Number(fraction) * 1e6));
}

function halfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
