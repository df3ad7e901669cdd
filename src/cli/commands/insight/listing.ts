// What the lists of tasks and timetables have in common: their options, and how a page is asked for.
import { choice, defaulting, text, whole } from "../../arguments/values.ts";

export const listingOptions = <const S extends string>(
  sorts: readonly [S, ...S[]],
  of: string,
) => ({
  search: defaulting(text(`Text in ${of}`), ""),
  sort: defaulting(choice("In which order", sorts), sorts[0]),
  limit: defaulting(whole("How many at most", 1, 500), 100),
  cursor: text("Where a list before ended", { form: "cursor" }),
});

/** The time, without its fraction; empty for none. */
export function timeOf(ms: number | null): string {
  if (ms === null) return "";
  // What a Date holds; PostgreSQL's infinite times are beyond it.
  return Math.abs(ms) > 8.64e15 ? "never" : new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
