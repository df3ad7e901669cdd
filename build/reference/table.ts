// Markdown for the generated pages: tables, code spans, escaped texts, the sentence below the title, anchors.

/** Returns the lines of a table; none if it has no rows. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line), ""];
}

/** Returns the text of a cell: on one line, with bars escaped. */
const cell = (text: string) => text.replaceAll(/\s*\n\s*/g, " ").replaceAll(/(?<!\\)\|/g, "\\|");

/** Returns the text as a code span. */
export const code = (text: string) => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);

/** Escapes the markup in a text, except code spans. */
export function plain(text: string): string {
  const parts = text.split(/(`[^`]+`)/);
  const escaped = (part: string) =>
    part.replaceAll(/[\\*<>[\]]|(?<!\w)_|_(?!\w)/g, "\\$&").replaceAll("`", "\\`");
  return parts.map((part, place) => (place % 2 === 1 ? part : escaped(part))).join("");
}

/** Returns the sentence below the title of a generated page. */
export const generated = (from: string) =>
  `*Written by \`npm run docs\` from ${from}; a test fails if this page is out of date.*`;

/** Returns GitHub's anchor of a heading: small letters, no punctuation except - and _, a dash for each space. */
export function anchorOf(text: string): string {
  const kept = text.trim().toLowerCase();
  return kept.replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "").replaceAll(" ", "-");
}
