// Makes text from elsewhere (a database, a shell, a server) safe for a terminal: characters that move the cursor,
// change colours, hide or reorder text are shown as codes.

// Control characters, invisible format characters (bidi overrides, zero width, tags), lone surrogates, line and
// paragraph separators. The zero-width joiner and non-joiner are allowed, because some scripts and emoji need them.
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Returns the text as one line, with unsafe characters as codes. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, (character) => short[character] ?? codes(character));
}

/** Returns the lines of a text, each printable and indented, so that no line looks like the program's own output. */
export function printableLines(text: string): string {
  const lines = text.split(/\r?\n/);
  return lines.map((line) => `  ${printable(line)}`.trimEnd()).join("\n");
}

/**
 * Returns equivalent JSON on one line. A line break or tab can only be white space between tokens, and becomes a space.
 * Any other unsafe character can only be in a string, and is escaped.
 */
export function printableJson(json: string): string {
  return json.replaceAll(/[\n\r\t]/g, " ").replaceAll(UNSAFE, codes);
}

function codes(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
