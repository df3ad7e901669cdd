/** The times of date-and-time fields, which are on the local clock. */
import { zoneOffset } from "../host";
import { isDigit } from "../lib/json-scanner";
import { lower } from "../lib/letters";
import { parseTime, parseWall, wallText } from "../lib/time";

/** The time that a field's text means; NaN when it means none. */
export function localTime(typed: string): f64 {
  const wall = parseWall(typed);
  if (isNaN(wall)) return NaN;
  // The offset is asked for twice, since it may change between the wall time and the true one.
  const guess = wall - <f64>zoneOffset(wall) * 60000;
  return wall - <f64>zoneOffset(guess) * 60000;
}

/**
 * What a person types for a time, as the command line reads it (`now`, `+10m`, `in 2h`, RFC 3339), or a
 * date and time of the local clock; NaN when it is none of these.
 */
export function typedTime(typed: string, now: f64): f64 {
  const said = lower(typed.trim());
  if (said === "now") return now;
  const isSpan = said.startsWith("+") || said.startsWith("in ");
  if (isSpan) return now + spanOf(said.substring(said.startsWith("+") ? 1 : 3));
  const moment = parseTime(typed.trim());
  return isNaN(moment) ? localTime(typed.trim()) : moment;
}

/** Milliseconds of `1h30m`; NaN when it is no span. */
function spanOf(said: string): f64 {
  let sum: f64 = 0;
  let count: f64 = -1;
  let parts = 0;
  for (let i = 0; i < said.length; i++) {
    const c = said.charCodeAt(i);
    if (c === 0x20) continue;
    if (isDigit(c)) {
      count = max(count, 0) * 10 + <f64>(c - 0x30);
      continue;
    }
    const unit = unitOf(said.charAt(i));
    if (count < 0 || unit === 0) return NaN;
    sum += count * unit;
    count = -1;
    parts++;
  }
  // A century is a slip of the finger.
  return count >= 0 || parts === 0 || sum > 3.2e12 ? NaN : sum;
}

function unitOf(letter: string): f64 {
  if (letter === "s") return 1000;
  if (letter === "m") return 60000;
  if (letter === "h") return 3600000;
  return letter === "d" ? 86400000 : 0;
}

/** A time as a field writes it. */
export function localField(at: f64): string {
  return wallText(at + <f64>zoneOffset(at) * 60000, "T");
}
