// One thing that a look at the installation has found, with the line that fixes it.
import { shellWord } from "../../../domain/portable/shell-word.ts";

/** `bad`: work stands still, is lost, or soon will be; `warn`: it costs something; `ok`: looked at, and well. */
export type FindingLevel = "ok" | "warn" | "bad";

export interface Finding {
  readonly level: FindingLevel;
  /** What was looked at: `server`, `schema`, `privileges`, … */
  readonly check: string;
  readonly message: string;
  /** A command for a shell, such as psql with a statement, or several; null: there is nothing to run. */
  readonly fix: string | readonly string[] | null;
}

export const finding = (
  level: FindingLevel,
  check: string,
  message: string,
  fix: string | readonly string[] | null = null,
): Finding => ({ level, check, message, fix });

/** SQL as a line for a shell. */
export function inPsql(statement: string): string {
  return `psql -c ${shellWord(statement)}`;
}

/** A name in SQL. */
export const quoted = (name: string) =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
