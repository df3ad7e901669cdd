/** Lines for a shell. They contain only commands that exist (src/cli). */
import { shellWord as quoted } from "../../../src/domain/portable/shell-word";
import { workerLine } from "../../../src/domain/portable/worker-line";

export { quoted };

/** Returns a line of the command line for the present schema. */
export function shellLine(words: string, schema: string): string {
  return workerLine(schema, "worker " + words);
}

/** Returns a positional argument. One that looks like an option gets its name. */
export function argument(name: string, value: string): string {
  return value.startsWith("-") ? ` --${name}=${quoted(value)}` : " " + quoted(value);
}
