// Quotes a text for a query, with a backslash before each quote and backslash in it.

export function quote(text: string): string {
  return `"${text.split("\\").join("\\\\").split('"').join('\\"')}"`;
}
