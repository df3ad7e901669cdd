/** Lines for a shell: only commands that there are (src/cli). */
import { shellWord as quoted } from "../../../src/domain/portable/shell-word";
import { workerLine } from "../../../src/domain/portable/worker-line";

export { quoted };

/** A line of the command line, for the schema at hand. */
export function shellLine(words: string, schema: string): string {
  return workerLine(schema, "worker " + words);
}

/** An argument without a name; one that looks like an option has its name. */
export function argument(name: string, value: string): string {
  return value.startsWith("-") ? ` --${name}=${quoted(value)}` : " " + quoted(value);
}
