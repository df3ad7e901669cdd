// Time zones of cron entries. A time zone is a name in the IANA database that is part of Node.
import * as v from "valibot";
import { nearest } from "../../base/validate.ts";

/**
 * Returns what is wrong with the name of a time zone; null if the name is valid. Offsets such as +02:00 are refused,
 * because they have no daylight saving time.
 */
export function zoneProblem(name: string): string | null {
  if (isZone(name)) return null;
  const near = nearest(name, Intl.supportedValuesOf("timeZone"));
  const meant = near === null ? "" : `, did you mean "${near}"?`;
  const shown = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
  return `"${shown}" is not a time zone${meant}; expected a name such as Europe/Berlin, America/New_York or UTC`;
}

const MAX_NAME_LENGTH = 64;

/** Caches valid names, because a check of a name is slow. */
const validNames = new Set<string>();
const MAX_CACHED = 1_000;

function isZone(name: string): boolean {
  if (validNames.has(name)) return true;
  if (name.length > MAX_NAME_LENGTH || !/^[a-z]/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    if (validNames.size >= MAX_CACHED) validNames.clear();
    validNames.add(name);
    return true;
  } catch {
    return false;
  }
}

export const timeZone = v.pipe(
  v.string("must be a string"),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed ? zoneProblem(dataset.value) : null;
    if (message !== null) addIssue({ message });
  }),
);

/** Hints in errors about unknown options: other libraries use these names. */
export const zoneHints = { tz: "use timeZone", timezone: "use timeZone" };

/** Returns a moment as the clock of a zone shows it, such as `2026-03-29T03:00:00+02:00`. */
export function timeInZone(ms: number, timeZone: string): string {
  const offset = offsetsOf(timeZone)(ms);
  const minutes = Math.abs(offset) / 60_000;
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const sign = offset < 0 ? "-" : "+";
  const clock = new Date(ms + offset).toISOString().slice(0, 19);
  return `${clock}${sign}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** Returns a Date whose UTC methods, such as getUTCHours(), return the local time of the zone. */
export const clockOf = (ms: number, timeZone: string): Date =>
  new Date(ms + offsetsOf(timeZone)(ms));

const DAY_MS = 86_400_000;

/**
 * Returns the next change of a zone's clock after `fromMs`; null if none is found within 366 days. `atMs`: the time of
 * the change, to the minute. `byMs`: negative if the clock is set back.
 */
export function nextClockChange(
  fromMs: number,
  timeZone: string,
): { readonly atMs: number; readonly byMs: number } | null {
  const offset = offsetsOf(timeZone);
  const before = offset(fromMs);
  const day = Array.from({ length: 366 }, (_, n) => fromMs + (n + 1) * DAY_MS).find(
    (ms) => offset(ms) !== before,
  );
  if (day === undefined) return null;
  let [low, high] = [Math.floor((day - DAY_MS) / 60_000), Math.ceil(day / 60_000)];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (offset(middle * 60_000) === before) low = middle;
    else high = middle;
  }
  return { atMs: high * 60_000, byMs: offset(high * 60_000) - before };
}

/** The returned function computes the zone's offset from UTC at a moment, in milliseconds. */
function offsetsOf(timeZone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  return (ms) => {
    const parts = format.formatToParts(ms);
    const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign = "+", hours = "00", minutes = "00"] = /([+-])(\d\d):(\d\d)/.exec(name) ?? [];
    return (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000);
  };
}
