// Arranges rows in columns. If the output is a terminal, each row is cut to the terminal's width, so that it does not
// wrap. In files and pipes, rows are complete.
import { colourOf, colourText } from "./colour.ts";
import { printable } from "./printable.ts";

const GAP = "  ";

/** Returns the lines for `stream`: first the headings, then the rows. If `stream` is a terminal, the lines are cut. */
export function tableLines(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  stream: NodeJS.WriteStream,
): string[] {
  const safe = [columns, ...rows].map((row) => row.map(printable));
  const widths = columns.map((_, at) =>
    safe.reduce((widest, row) => Math.max(widest, widthOf(row[at] ?? "")), 0),
  );
  const most = stream.isTTY ? stream.columns || Number.POSITIVE_INFINITY : Number.POSITIVE_INFINITY;
  return safe.map((row, index) => {
    let left = most;
    const cells: string[] = [];
    for (const [at, cell] of row.entries()) {
      const gap = at === 0 ? "" : GAP;
      if (left <= gap.length) break;
      left -= gap.length;
      const shown = cutTo(cell, left);
      const padding = " ".repeat(Math.max(0, Math.min(widths[at] ?? 0, left) - widthOf(shown)));
      left -= widthOf(shown) + padding.length;
      cells.push(
        `${gap}${colourText(shown, index === 0 ? "bold" : columns[at] === "STATE" ? colourOf(cell) : null, stream)}${padding}`,
      );
    }
    return cells.join("").trimEnd();
  });
}

/** Returns the text. If it takes more than `most` columns of a terminal, it is cut and ends with …. */
export function cutTo(text: string, most: number): string {
  if (widthOf(text) <= most) return text;
  let width = 1;
  let shown = "";
  for (const character of text) {
    width += widthOf(character);
    if (width > most) break;
    shown += character;
  }
  return `${shown}…`;
}

// On a terminal, East Asian wide characters and emoji take two columns. Combining marks and joiners take none.
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}])$/u;

export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) {
    if (WIDE.test(character)) width += 2;
    else if (!/^[\p{M}\u200c\u200d]$/u.test(character)) width++;
  }
  return width;
}
