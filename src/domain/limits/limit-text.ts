// Limits in words, and rates as they are typed: 100/s, 300/min, 1000/h, 10/250ms.
import { numberText, shortName } from "../words.ts";
import type { FullRate, LimitDefinition, Rate } from "./limit.ts";

const UNITS: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 },
};
const SPELLINGS: Readonly<Record<string, string>> = {
  ...{ sec: "s", second: "s", m: "min", minute: "min", hour: "h", day: "d" },
};

export const RATE_FORM = "must be a rate such as 100/s, 300/min, 1000/h or 10/250ms";
const MAX_RATE_LENGTH = 40;

/** Returns the rate of a text such as `100/s`; null if the text has another form. Does not check the rate's bounds. */
export function parseRate(text: string): Pick<Rate, "limit" | "perMs"> | null {
  if (text.length > MAX_RATE_LENGTH) return null;
  const [count = "", period = "", ...more] = text.split("/").map((part) => part.trim());
  if (more.length > 0 || !/^\d{1,9}(,\d{3})*$/.test(count)) return null;
  const amount = /^\d*/.exec(period)?.[0] ?? "";
  const word = period.slice(amount.length).trim();
  const unit = UNITS[SPELLINGS[word] ?? word];
  if (unit === undefined || amount.length > 8) return null;
  const limit = Number(count.replaceAll(",", ""));
  return { limit, perMs: (amount === "" ? 1 : Number(amount)) * unit };
}

/** Returns a rate as it is typed, such as `100/s`. */
export const rateText = ({ limit, perMs }: Rate): string => `${limit}/${periodText(perMs, "")}`;

/** Returns `100 in a second and 20 more at once after a quiet time`. `noun`: what follows the first number. */
function rateWords(rate: FullRate, noun = ""): string {
  const { limit, burst } = rate;
  const period = periodWords(rate);
  const article = period === "hour" ? "an " : /^\d/.test(period) ? "" : "a ";
  return `${numberText(limit)}${noun} in ${article}${period} and ${numberText(burst)} more at once after a quiet time`;
}

/** Returns `second` or `250 ms`. */
export function periodWords({ perMs }: Rate): string {
  const singular = { s: "second", min: "minute", h: "hour", d: "day" };
  const period = periodText(perMs, " ");
  return Object.hasOwn(singular, period) ? singular[period as keyof typeof singular] : period;
}

/** Returns a period such as `s`, `5 min` or `250 ms`, in the largest unit that divides the period. */
function periodText(perMs: number, space: string): string {
  const fitting = Object.entries(UNITS).filter(([, ms]) => perMs % ms === 0);
  const [unit, ms] = fitting.at(-1) ?? ["ms", 1];
  return perMs === ms && unit !== "ms" ? unit : `${perMs / ms}${space}${unit}`;
}

/** Returns `task charge_card`, `tasks mail_*`, `queue mail` or `each queue tenant/*`. */
export function targetText({ scope, match }: Pick<LimitDefinition, "scope" | "match">): string {
  const name = shortName(match);
  if (!match.includes("*")) return `${scope} ${name}`;
  return scope === "task" ? `tasks ${name}` : `each queue ${name}`;
}

/** Returns `at most 10 jobs of task charge_card at once, 100 in a second and 20 more at once after a quiet time`. */
export function limitText(limit: LimitDefinition): string {
  const { concurrency, rate } = limit;
  const jobs = (count: number) => ` ${count === 1 ? "job" : "jobs"} of ${targetText(limit)}`;
  if (rate !== null && concurrency === null) return `at most ${rateWords(rate, jobs(rate.limit))}`;
  const most = concurrency ?? 0;
  const running = `at most ${numberText(most)}${jobs(most)} at once`;
  return rate === null ? running : `${running}, ${rateWords(rate)}`;
}
