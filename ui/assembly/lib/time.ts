/**
 * Reads and writes RFC 3339 without AssemblyScript's Date, which traps on an invalid text. Times are milliseconds since
 * 1970; NaN: no time.
 */
import { digitsAt, isDigit } from "../../../src/domain/portable/digits";

const DAY_MS: f64 = 86400000;
/** The end of the year 9999, and the beginning of the year 0. */
const LAST_MS: f64 = 253402300799999;
const FIRST_MS: f64 = -62167219200000;

/**
 * Reads `2026-03-01T12:34[:56[.789]]`, followed by `Z` or an offset such as `+01:00`. Returns NaN for most other texts,
 * but not for all: the separators `-` and `T` are not checked.
 */
export function parseTime(text: string): f64 {
  const wall = parseWall(text);
  if (isNaN(wall)) return NaN;
  let i = hasSeconds(text) ? 19 : 16;
  if (i < text.length && text.charCodeAt(i) === 0x2e) {
    i++;
    while (i < text.length && isDigit(text.charCodeAt(i))) i++;
    if (i === 20 || i === 17) return NaN;
  }
  const rest = text.substring(i);
  if (rest === "Z" || rest === "z") return wall;
  const sign = rest.length > 0 ? rest.charCodeAt(0) : 0;
  if (sign !== 0x2b && sign !== 0x2d) return NaN;
  const minutes = offsetMinutes(rest);
  if (minutes < 0) return NaN;
  return wall - <f64>(sign === 0x2d ? -minutes : minutes) * 60000;
}

/**
 * Reads `2026-03-01T12:34[:56[.789]]` as UTC. Returns NaN if a number is missing or out of range. 31 February becomes a
 * day of March.
 */
export function parseWall(text: string): f64 {
  const year = digitsAt(text, 0, 4);
  const month = digitsAt(text, 5, 2);
  const day = digitsAt(text, 8, 2);
  const hour = digitsAt(text, 11, 2);
  const minute = digitsAt(text, 14, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > 31) return NaN;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return NaN;
  const second = hasSeconds(text) ? digitsAt(text, 17, 2) : 0;
  if (second < 0 || second > 60) return NaN;
  const clock = <f64>(hour * 3600 + minute * 60 + second) * 1000 + fraction(text);
  return <f64>daysOf(year, month, day) * DAY_MS + clock;
}

function hasSeconds(text: string): bool {
  return text.length > 16 && text.charCodeAt(16) === 0x3a;
}

/** Returns `2026-03-01T12:34:56.789Z`, or an empty string for no time. */
export function isoTime(at: f64): string {
  if (isNaN(at)) return "";
  const ms = <i64>at % 1000;
  return wallText(at, "T") + "." + pad(<i32>(ms < 0 ? ms + 1000 : ms), 1000) + "Z";
}

/** Returns the date, the separator (`T` or a space) and the clock, in UTC. */
export function wallText(at: f64, separator: string): string {
  if (isNaN(at)) return "";
  const bounded = min(max(at, FIRST_MS), LAST_MS);
  const days = Math.floor(bounded / DAY_MS);
  const seconds = <i32>((bounded - days * DAY_MS) / 1000);
  const clock =
    pad(seconds / 3600, 100) + ":" + pad((seconds / 60) % 60, 100) + ":" + pad(seconds % 60, 100);
  return dateText(<i64>days) + separator + clock;
}

/** Returns `+01:00` for 60 minutes. */
export function zoneText(minutes: i32): string {
  const size = minutes < 0 ? -minutes : minutes;
  return (minutes < 0 ? "-" : "+") + pad(size / 60, 100) + ":" + pad(size % 60, 100);
}

// daysOf() and dateText() are from Howard Hinnant's "chrono-compatible low-level date algorithms".
function daysOf(year: i32, month: i32, day: i32): i64 {
  const y = month <= 2 ? year - 1 : year;
  const era = (y >= 0 ? y : y - 399) / 400;
  const yearOfEra = y - era * 400;
  const dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return <i64>era * 146097 + <i64>dayOfEra - 719468;
}

function dateText(days: i64): string {
  const z = days + 719468;
  const era = (z >= 0 ? z : z - 146096) / 146097;
  const dayOfEra = <i32>(z - era * 146097);
  const yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
  const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const mp = (5 * dayOfYear + 2) / 153;
  const month = mp < 10 ? mp + 3 : mp - 9;
  const year = yearOfEra + <i32>era * 400 + (month <= 2 ? 1 : 0);
  return (
    pad(year, 10000) + "-" + pad(month, 100) + "-" + pad(dayOfYear - (153 * mp + 2) / 5 + 1, 100)
  );
}

/** Returns `05` for the value 5 and the scale 100. */
function pad(value: i32, scale: i32): string {
  return (value + scale).toString().substring(1);
}

function fraction(text: string): f64 {
  if (text.length < 21 || text.charCodeAt(19) !== 0x2e) return 0;
  let ms = 0;
  for (let i = 20; i < 23; i++) {
    const c = i < text.length ? text.charCodeAt(i) : 0x30;
    if (!isDigit(c)) return <f64>ms;
    ms += (c - 0x30) * (i === 20 ? 100 : i === 21 ? 10 : 1);
  }
  return <f64>ms;
}

function offsetMinutes(text: string): i32 {
  const hours = digitsAt(text, 1, 2);
  if (text.length === 3) return hours < 0 ? -1 : hours * 60;
  const at = text.charCodeAt(3) === 0x3a ? 4 : 3;
  const minutes = digitsAt(text, at, 2);
  return hours < 0 || minutes < 0 || text.length > at + 2 ? -1 : hours * 60 + minutes;
}
