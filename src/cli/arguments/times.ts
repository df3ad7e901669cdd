// Times and durations as people type them: `now`, `+10m`, `in 2h`, `30s`, or RFC 3339.
import { isMoment } from "../../domain/moment.ts";
import { Unfit } from "./refusals.ts";

/** RFC 3339 text; `now`; or so long after now, by the database's clock. */
export type When = string | { readonly afterMs: number };

const unitsMs: readonly (readonly [names: RegExp, ms: number])[] = [
  [/^(ms|msecs?|milliseconds?)$/, 1],
  [/^(s|secs?|seconds?)$/, 1_000],
  [/^(m|mins?|minutes?)$/, 60_000],
  [/^(h|hrs?|hours?)$/, 3_600_000],
  [/^(d|days?)$/, 86_400_000],
  [/^(w|weeks?)$/, 604_800_000],
];

// As long as the library waits for anything.
const LONGEST_MS = 365 * 86_400_000;

const DURATION = "must be a duration such as 30s, 5m or 1h30m, up to a year";
const MOMENT =
  'must be "now", a time from now such as +10m or "in 2h", or an RFC 3339 time with a zone, such as 2026-01-31T08:00:00Z';

/** Milliseconds. A plain number is seconds. */
export function duration(typed: string): number {
  const ms = /^\d+(\.\d+)?$/.test(typed.trim()) ? Number(typed) * 1_000 : sumOfParts(typed);
  if (ms !== null && ms <= LONGEST_MS) return ms;
  throw new Unfit(DURATION);
}

export function moment(typed: string): When {
  const plain = typed.trim();
  if (plain.toLowerCase() === "now") return "now";
  const afterMs = sumOfParts(plain.replace(/^(\+|in\s+)/i, ""));
  if (afterMs !== null) {
    if (afterMs > LONGEST_MS) throw new Unfit(MOMENT);
    return { afterMs };
  }
  if (isMoment(plain)) return plain;
  throw new Unfit(MOMENT);
}

/** `1h30m`, `2 hours`, `1 day 6 h`; null when it is nothing of the kind. */
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
