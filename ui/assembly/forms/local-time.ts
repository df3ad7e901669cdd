/** The times of date-and-time fields, which are on the local clock. */
import { zoneOffset } from "../host";
import { parseWall, wallText } from "../lib/time";

/** The time that a field's text means; NaN when it means none. */
export function localTime(typed: string): f64 {
  const wall = parseWall(typed);
  if (isNaN(wall)) return NaN;
  // The offset is asked for twice, since it may change between the wall time and the true one.
  const guess = wall - <f64>zoneOffset(wall) * 60000;
  return wall - <f64>zoneOffset(guess) * 60000;
}

/** A time as a field writes it. */
export function localField(at: f64): string {
  return wallText(at + <f64>zoneOffset(at) * 60000, "T");
}
