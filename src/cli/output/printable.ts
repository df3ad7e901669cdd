// Makes text from elsewhere (a database, a shell, a server) safe for a terminal: characters that move the cursor,
// change colours, hide or reorder text are shown as codes.

// Control characters, invisible format characters (bidi overrides, zero width, tags), lone surrogates, line and
// paragraph separators. The two joiners that scripts and emoji need are allowed.
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Returns the text as one line, with unsafe characters as codes. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, (character) => short[character] ?? codes(character));
}

/** Returns the lines of a text, each printable and indented, so that none looks like a line of the program. */
export function printableLines(text: string): string {
  const lines = text.split(/\r?\n/);
  return lines.map((line) => `  ${printable(line)}`.trimEnd()).join("\n");
}

/**
 * Returns equivalent JSON on one line. An unsafe character is either white space between tokens, which becomes a space,
 * or in a string, where it is escaped.
 */
export function printableJson(json: string): string {
  return json.replaceAll(/[\n\r\t]/g, " ").replaceAll(UNSAFE, codes);
}

function codes(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
