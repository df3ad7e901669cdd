// Returns a text in quotes.

export function quote(text: string): string {
  return `"${text.split("\\").join("\\\\").split('"').join('\\"')}"`;
}
