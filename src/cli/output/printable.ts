// Text that came from elsewhere (a database, a shell, a server) made harmless for a terminal: what
// would move the cursor, change colours, hide or reorder characters is shown as its code instead.

// Control characters, invisible format characters (bidi overrides, zero width, tags), halves of
// surrogate pairs, line and paragraph separators. The two joiners that scripts and emoji need stay.
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** One line, whatever was in it. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, (character) => short[character] ?? codes(character));
}

/** The lines of a longer text, each harmless and indented, so that none looks like one of ours. */
export function printableLines(text: string): string {
  const lines = text.split(/\r?\n/);
  return lines.map((line) => `  ${printable(line)}`.trimEnd()).join("\n");
}

/**
 * JSON on one line that means the same: a raw control character can only be white space between
 * tokens, anything else is part of a string and can be written as its code.
 */
export function printableJson(json: string): string {
  return json.replaceAll(/[\n\r\t]/g, " ").replaceAll(UNSAFE, codes);
}

function codes(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
