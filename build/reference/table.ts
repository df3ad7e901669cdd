// Functions that return the Markdown of the generated pages (docs/reference): tables, code spans, escaped texts, and
// the sentence below the title. Also the anchors of headings.

/** Returns the lines of a table and an empty line after it; no lines if `rows` is empty. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line), ""];
}

/** Returns the text of a cell: on one line, with bars escaped. */
const cell = (text: string) => text.replaceAll(/\s*\n\s*/g, " ").replaceAll(/(?<!\\)\|/g, "\\|");

/** Returns the text as a code span. */
export const code = (text: string) => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);

/** Escapes the Markdown markup in a text. Code spans stay as they are. */
export function plain(text: string): string {
  const parts = text.split(/(`[^`]+`)/);
  const escaped = (part: string) =>
    part.replaceAll(/[\\*<>[\]]|(?<!\w)_|_(?!\w)/g, "\\$&").replaceAll("`", "\\`");
  return parts.map((part, place) => (place % 2 === 1 ? part : escaped(part))).join("");
}

/** Returns the sentence below the title of a generated page. */
export const generated = (from: string) =>
  `*Written by \`npm run docs\` from ${from}; a test fails if this page is out of date.*`;

/**
 * Returns the anchor that GitHub gives a heading: its text in small letters, without punctuation except - and _, and
 * with a dash for each space.
 */
export function anchorOf(text: string): string {
  const kept = text.trim().toLowerCase();
  return kept.replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "").replaceAll(" ", "-");
}
