/** Lines for a shell: only commands that there are (src/cli). */
import { shellWord as quoted } from "../../../src/domain/portable/shell-word";

export { quoted };

/** A line of the command line, for the schema at hand. */
export function shellLine(words: string, schema: string): string {
  return schema === "worker" ? "worker " + words : `worker ${words} --schema ${quoted(schema)}`;
}

/** An argument without a name; one that looks like an option has its name. */
export function argument(name: string, value: string): string {
  return value.startsWith("-") ? ` --${name}=${quoted(value)}` : " " + quoted(value);
}
