// Time zones of cron entries: names of the IANA database, as this version of Node has it. UTC is the default
// everywhere.
import * as v from "valibot";
import { nearest } from "../../base/validate.ts";

/**
 * Returns what is wrong with the name of a time zone, or null. Offsets such as +02:00 are refused, because they have no
 * daylight saving time.
 */
export function zoneProblem(name: string): string | null {
  if (isZone(name)) return null;
  const near = nearest(name, Intl.supportedValuesOf("timeZone"));
  const meant = near === null ? "" : `, did you mean "${near}"?`;
  const shown = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
  return `"${shown}" is not a time zone${meant}; expected a name such as Europe/Berlin, America/New_York or UTC`;
}

/** Longer than any name. */
const LONGEST_NAME = 64;

/** Valid names. A check of one takes as long as ten ticks. */
const known = new Set<string>();
const MOST_KNOWN = 1_000;

function isZone(name: string): boolean {
  if (known.has(name)) return true;
  if (name.length > LONGEST_NAME || !/^[a-z]/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    if (known.size >= MOST_KNOWN) known.clear();
    known.add(name);
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

/** Hints for the field names that other libraries use. */
export const zoneHints = { tz: "use timeZone", timezone: "use timeZone" };

/** Returns a moment as the clock of a zone shows it, such as `2026-03-29T03:00:00+02:00`. */
export function timeInZone(ms: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  const parts = format.formatToParts(ms);
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign = "+", hours = "00", minutes = "00"] = /([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000);
  return `${new Date(ms + offset).toISOString().slice(0, 19)}${sign}${hours}:${minutes}`;
}
