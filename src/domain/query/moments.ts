// Ages and times in a query, and the moments that they mean once `now` is known. Pure arithmetic in
// microseconds, as PostgreSQL counts.
import { isMoment, microsecondsOf } from "../moment.ts";

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
};
const LONGEST_AGE_S = 8_640_000_000; // 100,000 days
const DAY_US = 86_400_000_000n;

const AGE = /^[+-]?(?:\d{1,9}[smhdw])+$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME =
  /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:Z|[+-](?:0\d|1[0-5]):[0-5]\d)$/;

/** `2h`, `1h30m`, `+10m`; at most 100,000 days. */
export function isAge(text: string): boolean {
  return AGE.test(text) && ageSeconds(text) <= LONGEST_AGE_S;
}

/** `2026-01-31`, `2026-01-31T08:00Z`, with up to six digits of a second; `now`, `today`. */
export function isTime(text: string): boolean {
  if (text === "now" || text === "today") return true;
  if (DATE.test(text)) return isMoment(`${text}T00:00:00Z`);
  return TIME.test(text) && isMoment(text);
}

function ageSeconds(text: string): number {
  let seconds = 0;
  for (const [, count, unit = ""] of text.matchAll(/(\d{1,9})([smhdw])/g)) {
    seconds += Number(count) * (UNIT_SECONDS[unit] ?? 0);
  }
  return seconds;
}

/** Without its sign, in microseconds. */
export function ageUs(text: string): bigint {
  return BigInt(ageSeconds(text)) * 1_000_000n;
}

/** The moments that a time means: from `low` up to, not including, `high`. A date is its whole day. */
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
