// JSON of values that JavaScript's types cannot represent: ids of up to 19 digits, times with microseconds.
import { timeText } from "../../queue/sql/moments.ts";

/** Returns a value that JSON.stringify() writes as a number with all digits of a job's id; null for null. */
export function idJson(id: string | null): unknown {
  return id === null ? null : rawJson(id);
}

// TypeScript's library has no type for JSON.rawJSON.
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

/** Returns a JSON object that begins with all digits of a job's id. `more` has at least one member. */
export function jobIdJson(id: string, more: object): string {
  return `{"id":${id},${JSON.stringify(more).slice(1)}`;
}

export function timeOrNull(us: string | null): string | null {
  return us === null ? null : timeText(us);
}

export function timeOfMs(ms: number | null): string | null {
  return ms === null ? null : timeText(ms * 1_000);
}
