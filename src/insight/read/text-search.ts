// Conditions that a column contains a text, literally and without an index: byte by byte, or ignoring case.

export interface TextSearch {
  /** The value of the condition's parameter. */
  readonly value: readonly string[];
  /** Returns the condition that a column contains the text. `parameter`: such as `$1::text[]`. */
  readonly isIn: (column: string, parameter: string) => string;
}

/**
 * Finds `text` ignoring case. A text in ASCII is compared by bytes, many times faster than by the locale's rules.
 * The longest part without letters, such as the digits of an id, is searched first: most rows do not contain it, and
 * folding the case of a row's text is most of the work. (ILIKE also folds its pattern again for each row.) Beyond
 * ASCII, the database's locale determines which upper and lower case letters ILIKE matches ("C": none), so the usual
 * spellings are searched.
 */
export function textSearch(text: string): TextSearch {
  if (!isAscii(text)) {
    return {
      value: spellings(text).map((one) => `%${one.replace(/[\\%_]/g, "\\$&")}%`),
      isIn: (column, parameter) => `${column} ilike any (${parameter})`,
    };
  }
  const [caseless = ""] = text.match(/[^a-z]+/gi)?.sort((a, b) => b.length - a.length) ?? [];
  return {
    value: [text.toLowerCase(), ...(caseless === "" ? [] : [caseless])],
    isIn: (column, parameter) => {
      const bytes = `${column} collate "C"`;
      const found = contains(`pg_catalog.lower(${bytes})`, `(${parameter})[1]`);
      return caseless === "" ? found : `(${contains(bytes, `(${parameter})[2]`)} and ${found})`;
    },
  };
}

/** Returns a condition: a text with the collation "C" contains `part` literally. */
export const contains = (column: string, part: string): string =>
  `pg_catalog.strpos(${column}, ${part}) > 0`;

function spellings(text: string): string[] {
  const capitalized = text.replace(/\p{L}+/gu, (word) => {
    const [first = "", ...rest] = word;
    return first.toUpperCase() + rest.join("").toLowerCase();
  });
  return [...new Set([text, text.toLowerCase(), text.toUpperCase(), capitalized])];
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);
