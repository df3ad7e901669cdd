// What the lists of names have in common on the wire.
import { timeText } from "../../../queue/sql/moments.ts";
import type { JsonSchema } from "../../wire/json-schema.ts";

export const rate: JsonSchema = {
  type: ["integer", "number", "null"],
  description: "of the last minute; null where nobody says",
};

export function timeOrNull(us: string | null): string | null {
  return us === null ? null : timeText(us);
}

export function timeOfMs(ms: number | null): string | null {
  return ms === null ? null : timeText(ms * 1_000);
}

/** An object that begins with a job's id, which no double holds. */
export function jobIdJson(id: string, more: object): string {
  return `{"id":${id},${JSON.stringify(more).slice(1)}`;
}
