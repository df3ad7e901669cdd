// A finding: one result of a check of the doctor. If commands fix the problem, or show more about it, the finding has
// these commands.
import { shellWord } from "../../../domain/portable/shell-word.ts";

/** `bad`: something is broken, or soon will be; `warn`: a risk, or a cost; `ok`: no problem, even if `fix` is set. */
export type FindingLevel = "ok" | "warn" | "bad";

export interface Finding {
  readonly level: FindingLevel;
  /** What was checked: `server`, `schema`, `privileges`, … */
  readonly check: string;
  readonly message: string;
  /**
   * The shell command that fixes the problem or shows more about it, for example psql with a statement. Several
   * commands have to be run in the order of the list. Null: there is no such command.
   */
  readonly fix: string | readonly string[] | null;
}

export const finding = (
  level: FindingLevel,
  check: string,
  message: string,
  fix: string | readonly string[] | null = null,
): Finding => ({ level, check, message, fix });

/** Returns a shell command that runs the SQL. */
export function inPsql(statement: string): string {
  return `psql -c ${shellWord(statement)}`;
}

/** Returns an SQL identifier in quotes, because a name may be a reserved word, such as `user`. */
export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;
