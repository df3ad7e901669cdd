// Describes a cron expression in words. Only common forms are described. Words for other forms might be inexact, and
// then the expression itself is better.
import { canonicalField, FIELD_COUNT, withoutMacro } from "./cron-fields.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

/** Returns words such as `every Monday at 05:30`; null if the expression has an unusual form or is invalid. */
export function patternInWords(expression: string): string | null {
  const fields = withoutMacro(expression).trim().split(/\s+/);
  if (fields.length !== FIELD_COUNT) return null;
  const canonical = fields.map((text, place) => canonicalField(place, text));
  if (canonical.some((one) => "problems" in one)) return null;
  const [, , day = "", month = "", weekday = ""] = canonical.map((one) =>
    "field" in one ? one.field : "",
  );
  const [minute = "", hour = ""] = fields;
  const days = daysInWords(day, month, weekday);
  if (days === null) return null;
  const [minutes, hours] = [numberOf(minute), numberOf(hour)];
  if (minutes !== null && hours !== null) return `${days} at ${two(hours)}:${two(minutes)}`;
  const times = timesInWords(minute, hour);
  if (times === null) return null;
  return days === "every day" ? times : `${times}, ${days}`;
}

function timesInWords(minute: string, hour: string): string | null {
  const [minutes, eachMinutes, eachHours] = [numberOf(minute), stepOf(minute), stepOf(hour)];
  if (hour === "*" && minute === "*") return "every minute";
  if (hour === "*" && eachMinutes !== null && 60 % eachMinutes === 0) {
    return `every ${eachMinutes} minutes`;
  }
  if (minutes === null) return null;
  const at = minutes === 0 ? "on the hour" : `at ${minutes} past`;
  if (hour === "*") return `every hour, ${at}`;
  return eachHours !== null && 24 % eachHours === 0 ? `every ${eachHours} hours, ${at}` : null;
}

function daysInWords(day: string, month: string, weekday: string): string | null {
  const [days, months, weekdays] = [numberOf(day), numberOf(month), numberOf(weekday)];
  if (weekday === "*" && month === "*") {
    if (day === "*") return "every day";
    if (day === "L") return "on the last day of every month";
    return days === null ? null : `on the ${ordinal(days)} of every month`;
  }
  if (weekday === "*") {
    return days === null || months === null ? null : `every ${days} ${MONTHS[months - 1]}`;
  }
  if (day !== "*" || month !== "*") return null;
  if (weekday === "1,2,3,4,5") return "every weekday";
  return weekdays === null ? null : `every ${DAYS[weekdays]}`;
}

const numberOf = (field: string) => (/^\d+$/.test(field) ? Number(field) : null);

function stepOf(field: string): number | null {
  const step = /^\*\/(\d+)$/.exec(field)?.[1];
  return step === undefined || Number(step) < 2 ? null : Number(step);
}

const two = (value: number) => String(value).padStart(2, "0");

function ordinal(day: number): string {
  const isTeen = day > 10 && day < 20;
  const ending = isTeen ? "th" : (["th", "st", "nd", "rd"][day % 10] ?? "th");
  return `${day}${ending}`;
}
