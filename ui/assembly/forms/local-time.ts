/**
 * Reads times and periods that users type. A wall time is the date and time that the local clock shows, in milliseconds
 * as if the local clock were in UTC.
 */

import { isDigit } from "../../../src/domain/portable/digits";
import { zoneOffset } from "../host";
import { lower } from "../lib/letters";
import { parseWhole } from "../lib/number";
import { parseTime, parseWall, wallText } from "../lib/time";

export const NO_TIME: string = "Enter a time such as +30m, tomorrow 9:00 or 2026-11-26 09:00.";
const DAY_MS: f64 = 86400000;

function localTime(wall: f64): f64 {
  // zoneOffset() needs a time, not a wall time. So the first offset may be wrong near a change of the clocks.
  const guess = wall - <f64>zoneOffset(wall) * 60000;
  return wall - <f64>zoneOffset(guess) * 60000;
}

/**
 * Returns the time that a user has typed; NaN for any other text. A time is `now`, a delay such as `+10m` or `in 2h`,
 * an RFC 3339 time, or a local day, such as `tomorrow`, with or without a time of day. A time of day alone means its
 * next occurrence.
 */
export function typedTime(typed: string, now: f64): f64 {
  const input = lower(typed.trim());
  if (input === "now") return now;
  const isSpan = input.startsWith("+") || input.startsWith("in ");
  if (isSpan) return now + spanOf(input.substring(input.startsWith("+") ? 1 : 3));
  const today = dayOf(now);
  let day: f64 = NaN;
  let dayLength = 10;
  if (input.startsWith("today")) {
    day = today;
    dayLength = 5;
  } else if (input.startsWith("tomorrow")) {
    day = today + DAY_MS;
    dayLength = 8;
  } else if (input.length >= 10) {
    const date = input.substring(0, 10);
    day = parseWall(date + "T00:00");
    // parseWall() turns a day that does not exist, such as 31 February, into a day of the next month.
    if (isNaN(day) || wallText(day, "T").substring(0, 10) !== date) return NaN;
    const moment = parseTime(typed.trim());
    if (!isNaN(moment)) return moment;
  } else {
    const at = localTime(today + clockOf(input));
    return at > now || isNaN(at) ? at : localTime(today + DAY_MS + clockOf(input));
  }
  const rest = input.substring(dayLength);
  if (rest.length === 0) return localTime(day);
  return " t".includes(rest.charAt(0)) ? localTime(day + clockOf(rest.substring(1).trim())) : NaN;
}

/** Returns the seconds of a period such as `2h`, `+2h`, `-30m` or `90`; NaN for any other text. */
export function typedSeconds(typed: string): f64 {
  const input = lower(typed.trim());
  const back = input.startsWith("-");
  const plain = back || input.startsWith("+") ? input.substring(1) : input;
  const whole = parseWhole(plain);
  const secs = whole.valid && whole.value >= 0 ? <f64>whole.value : spanOf(plain) / 1000;
  return back ? -secs : secs;
}

/** Returns the wall time of the midnight at which the local day of `at` begins. */
export function dayOf(at: f64): f64 {
  return Math.floor((at + <f64>zoneOffset(at) * 60000) / DAY_MS) * DAY_MS;
}

/** Reads a time of day such as `9:00` or `09:00:30`, as milliseconds since midnight. */
function clockOf(input: string): f64 {
  const padded = input.charAt(1) === ":" ? "0" + input : input;
  if (padded.charAt(2) !== ":" || (padded.length !== 5 && padded.length !== 8)) return NaN;
  return padded.length === 8 && padded.charAt(5) !== ":" ? NaN : parseWall("1970-01-01T" + padded);
}

/** Reads a period such as `1h30m`, in milliseconds. */
function spanOf(input: string): f64 {
  let sum: f64 = 0;
  let count: f64 = -1;
  let parts = 0;
  for (let i = 0; i < input.length; i++) {
    const c = input.charCodeAt(i);
    if (c === 0x20) continue;
    if (isDigit(c)) {
      count = max(count, 0) * 10 + <f64>(c - 0x30);
      continue;
    }
    const unit = unitOf(input.charAt(i));
    if (count < 0 || unit === 0) return NaN;
    sum += count * unit;
    count = -1;
    parts++;
  }
  // A period of more than a century counts as a typing error.
  return count >= 0 || parts === 0 || sum > 3.2e12 ? NaN : sum;
}

function unitOf(letter: string): f64 {
  if (letter === "s") return 1000;
  if (letter === "m") return 60000;
  if (letter === "h") return 3600000;
  return letter === "d" ? 86400000 : 0;
}

/** Returns the local time at `at` as the text of a form's field, such as `2026-11-26T09:00:00`. */
export function localField(at: f64): string {
  return wallText(at + <f64>zoneOffset(at) * 60000, "T");
}
