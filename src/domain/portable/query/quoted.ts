// A text as a query has it in quotes.

/** One value, whatever is in it. */
export function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
