// Finding a text literally without an index: anywhere in a column, byte by byte, or ignoring case.

export interface TextSearch {
  /** The parameter that the condition needs. */
  readonly value: readonly string[];
  /** `parameter`: as `$1::text[]`. */
  readonly isIn: (column: string, parameter: string) => string;
}

/**
 * Finds `text` ignoring case. Of ASCII letters alone that is a comparison of bytes, many times faster
 * than asking the locale. The longest piece that has no case, such as the digits of an id, is looked for
 * first: most rows do not have it, and folding the case of a row's text is most of the work. (ILIKE
 * folds that of its pattern, too, anew for each row.) Beyond ASCII it depends on the database's locale
 * how far ILIKE knows upper and lower case ("C" knows nothing), so the usual spellings are given.
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

/** Whether `sought` stands in a text of the collation "C" as it is. */
export const contains = (column: string, sought: string): string =>
  `pg_catalog.strpos(${column}, ${sought}) > 0`;

function spellings(text: string): string[] {
  const capitalized = text.replace(/\p{L}+/gu, (word) => {
    const [first = "", ...rest] = word;
    return first.toUpperCase() + rest.join("").toLowerCase();
  });
  return [...new Set([text, text.toLowerCase(), text.toUpperCase(), capitalized])];
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);
