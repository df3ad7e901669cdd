/** A text as a query has it in quotes: whatever it holds, it is one value. */
export function quoted(text: string): string {
  return '"' + text.replaceAll("\\", "\\\\").replaceAll('"', '\\"') + '"';
}
