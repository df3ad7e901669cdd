// Ages and durations in words, for messages, the command line and the page.
import { groupDigits } from "./digits.ts";

const TWO_UNITS_BELOW_S: f64 = 600;

/**
 * Returns an age in words. An age of less than ten minutes has at most two units (`9 m 30 s`), any other age has one
 * (`12 m`, `2 h`, `3 d`).
 */
export function ageText(ms: f64): string {
  const seconds = secondsOf(ms);
  if (seconds < TWO_UNITS_BELOW_S) return spanText(ms);
  if (seconds < 3600) return whole(seconds / 60, " m");
  return seconds < 86400 ? whole(seconds / 3600, " h") : whole(seconds / 86400, " d");
}

/** Returns a duration in words: `2 h 9 m`. The text has at most two units, and from ten days on only one. */
export function spanText(ms: f64): string {
  const seconds = secondsOf(ms);
  if (seconds < 60) return whole(seconds, " s");
  if (seconds < 3600) return two(seconds, 60, " m", 1, " s");
  if (seconds < 86400) return two(seconds, 3600, " h", 60, " m");
  return seconds < 864000 ? two(seconds, 86400, " d", 3600, " h") : whole(seconds / 86400, " d");
}

function secondsOf(ms: f64): f64 {
  return ms > 0 ? Math.floor(ms / 1000) : 0;
}

function whole(count: f64, unit: string): string {
  return groupDigits((Math.floor(count) as i64).toString()) + unit;
}

function two(seconds: f64, large: f64, unit: string, small: f64, smaller: string): string {
  const count = Math.floor(seconds / large);
  const rest = (seconds - count * large) / small;
  return rest < 1 ? whole(count, unit) : `${whole(count, unit)} ${whole(rest, smaller)}`;
}
