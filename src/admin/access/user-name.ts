// The names under which users are shown: in the audit trail, in operations and in the log.

const LONGEST = 128;

/** Control, format (also bidirectional), unassigned and private characters, lone surrogates, line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Why a value is not a name of a user, without the value itself; null: it is one. */
export function nameProblem(name: unknown): string | null {
  if (typeof name !== "string") return "is not a string";
  // A longer one is not counted character by character.
  const isLong = name.length > 2 * LONGEST || [...name].length > LONGEST;
  if (isLong) return `has more than ${LONGEST} characters`;
  const [found] = UNPRINTABLE.exec(name) ?? [];
  if (found !== undefined) {
    const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `contains the unprintable character U+${code}`;
  }
  // Such as a letter of no width.
  return /[^\p{Z}\p{DI}]/u.test(name) ? null : "is blank";
}
