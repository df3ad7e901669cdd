// One result of a check, with the command that fixes it.
import { shellWord } from "../../../domain/portable/shell-word.ts";

/** `bad`: work is stopped or lost, or soon will be; `warn`: work continues, at a cost; `ok`: no problem. */
export type FindingLevel = "ok" | "warn" | "bad";

export interface Finding {
  readonly level: FindingLevel;
  /** What was checked: `server`, `schema`, `privileges`, … */
  readonly check: string;
  readonly message: string;
  /** Shell commands, such as psql with a statement; null if there is nothing to run. */
  readonly fix: string | readonly string[] | null;
}

export const finding = (
  level: FindingLevel,
  check: string,
  message: string,
  fix: string | readonly string[] | null = null,
): Finding => ({ level, check, message, fix });

/** A shell command that runs the SQL. */
export function inPsql(statement: string): string {
  return `psql -c ${shellWord(statement)}`;
}

/** A quoted SQL identifier. */
export const quoteName = (name: string) =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
