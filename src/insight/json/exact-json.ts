// Writes into JSON what a number or a Date cannot represent: ids with up to 19 digits, and times with microseconds.
import { timeText } from "../../queue/sql/moments.ts";

/** Returns a value that JSON.stringify() writes as a number: the id of a job, with all its digits. Null for null. */
export function idJson(id: string | null): unknown {
  return id === null ? null : rawJson(id);
}

// TypeScript's library has no type for JSON.rawJSON.
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * Returns the JSON text of an object: first the member `id`, with all its digits, then the members of `more`. `more`
 * must have at least one member.
 */
export function jobIdJson(id: string, more: object): string {
  return `{"id":${id},${JSON.stringify(more).slice(1)}`;
}

export function timeOrNull(us: string | null): string | null {
  return us === null ? null : timeText(us);
}

export function timeOfMs(ms: number | null): string | null {
  return ms === null ? null : timeText(ms * 1_000);
}
