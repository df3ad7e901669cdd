// SQL conditions that test whether a column contains a text. No character of the text is a wildcard.

export interface TextSearch {
  /** The value of the condition's parameter. */
  readonly value: readonly string[];
  /** Returns the condition that the column contains the text. `parameter`: SQL for `value`, such as `$1::text[]`. */
  readonly isIn: (column: string, parameter: string) => string;
}

/**
 * Returns a search for `text` that ignores case.
 *
 * ASCII texts are compared as bytes, which is many times faster than a comparison by the locale's rules. The longest
 * part of `text` without letters is searched first: most rows do not contain this part, and need no slow conversion to
 * lower case.
 *
 * Other texts are searched by ILIKE. The database's locale may not relate upper and lower case of letters outside
 * ASCII, so ILIKE gets up to four spellings.
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

/** Returns the condition that `column` contains `part`. Both are SQL; `column` has the collation "C". */
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
