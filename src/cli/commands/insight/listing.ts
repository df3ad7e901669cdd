// What `worker tasks` and `worker cron` have in common: the options of their lists, and how they print times.
import { choice, text, whole, withDefault } from "../../arguments/values.ts";

export const listingOptions = <const S extends string>(
  sorts: readonly [S, ...S[]],
  of: string,
) => ({
  search: withDefault(text(`Filter by text in ${of}`), ""),
  sort: withDefault(choice("Sort order", sorts), sorts[0]),
  limit: withDefault(whole("Maximum number of rows", 1, 500), 100),
  cursor: text("Cursor printed by the previous page", { form: "cursor" }),
});

/** Returns a time as RFC 3339 text without fractions of a second; "never" for an infinite time; "" for null. */
export function timeOf(ms: number | null): string {
  if (ms === null) return "";
  // PostgreSQL's infinity is outside the range of a Date.
  return Math.abs(ms) > 8.64e15 ? "never" : new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
