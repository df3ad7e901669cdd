// Checks the names under which users are shown: in the audit trail, in operations and in the log.

const MAX_LENGTH = 128;

/**
 * Matches control characters, format characters (also bidirectional ones), unassigned and private-use characters, lone
 * surrogates, and separators of lines and paragraphs.
 */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Returns why a value is not a valid user name, or null if it is one. The reason does not contain the value. */
export function nameProblem(name: unknown): string | null {
  if (typeof name !== "string") return "is not a string";
  // The UTF-16 length is checked first, so that a very long name is not split into characters.
  const isLong = name.length > 2 * MAX_LENGTH || [...name].length > MAX_LENGTH;
  if (isLong) return `has more than ${MAX_LENGTH} characters`;
  const [found] = UNPRINTABLE.exec(name) ?? [];
  if (found !== undefined) {
    const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `contains the unprintable character U+${code}`;
  }
  // A name of invisible letters only, such as the Hangul filler, is blank, too.
  return /[^\p{Z}\p{DI}]/u.test(name) ? null : "is blank";
}
