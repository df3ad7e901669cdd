/** Makes lines for a shell, with the commands and options of src/cli. */
import { shellWord as quoted } from "../../../src/domain/portable/shell-word";
import { workerLine } from "../../../src/domain/portable/worker-line";
import { replaced } from "../lib/letters";

export { quoted };

/** Returns a shell line that runs `worker` with these words on the schema. */
export function shellLine(words: string, schema: string): string {
  return workerLine(schema, "worker " + words);
}

/** Returns a positional argument; if its value begins with a dash, an option with the argument's name instead. */
export function argument(name: string, value: string): string {
  return value.startsWith("-") ? ` --${name}=${quoted(value)}` : " " + quoted(value);
}

/** Returns ` --name value`; empty if there is no value. A value that begins with a dash needs an equals sign. */
export function option(name: string, value: string): string {
  if (value.trim().length === 0) return "";
  return value.startsWith("-") ? ` --${name}=${quoted(value)}` : ` --${name} ${quoted(value)}`;
}

/** Returns an option for each of the values, which are separated by commas or spaces. */
export function options(name: string, values: string): string {
  const parts = replaced(values, " ", ",").split(",");
  let words = "";
  for (let i = 0; i < parts.length; i++) words += option(name, parts[i]);
  return words;
}
