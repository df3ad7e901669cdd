// Converts the ages of a query to microseconds, and its times to microseconds since 1970.
import { microsecondsOf } from "../moment.ts";
import { ageSeconds } from "../portable/query/values.ts";

const DAY_US = 86_400_000_000n;

const DATE = /^\d{4}-\d\d-\d\d$/;

/** Returns an age in microseconds. The sign of the age is ignored. */
export function ageUs(text: string): bigint {
  return BigInt(ageSeconds(text)) * 1_000_000n;
}

/**
 * Returns the period that a text means, from `low` until before `high`: a day in UTC for a date or `today`, otherwise
 * one microsecond.
 */
export function timeUs(
  text: string,
  nowUs: bigint,
): { readonly low: bigint; readonly high: bigint } {
  if (text === "today" || DATE.test(text)) {
    const low =
      text === "today"
        ? nowUs - (((nowUs % DAY_US) + DAY_US) % DAY_US)
        : microsecondsOf(`${text}T00:00:00Z`);
    return { low, high: low + DAY_US };
  }
  const low = text === "now" ? nowUs : microsecondsOf(text);
  return { low, high: low + 1n };
}
