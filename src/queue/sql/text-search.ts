// Finding a text literally, ignoring case, without an index.

/**
 * LIKE patterns that find `text` literally. How far ILIKE knows upper and lower case beyond ASCII
 * depends on the database's locale ("C" knows nothing), so the usual spellings are given as well.
 */
export function searchPatterns(text: string): string[] {
  if (isAscii(text)) return [containing(text)];
  const capitalized = text.replace(/\p{L}+/gu, (word) => {
    const [first = "", ...rest] = word;
    return first.toUpperCase() + rest.join("").toLowerCase();
  });
  const spellings = new Set([text, text.toLowerCase(), text.toUpperCase(), capitalized]);
  return [...spellings].map(containing);
}

/** Ignoring the case of ASCII letters only is many times faster than asking the locale. */
export const searchCollation = (text: string): string => (isAscii(text) ? 'collate "C"' : "");

/** The LIKE pattern of what has `text` in it as it stands. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, "\\$&")}%`;

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);
