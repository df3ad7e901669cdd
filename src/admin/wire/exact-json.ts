// Ids in JSON that is built from values: as integers, all their digits, although no number of
// JavaScript's has them.

/** A job's id, or null, for JSON.stringify(). */
export function idJson(id: string | null): unknown {
  return id === null ? null : rawJson(id);
}

// TypeScript's library does not know it yet.
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };
