// Builds the command lines that messages, responses and screens suggest: `worker <command> …`, with an option for the
// schema of the queue if it is not the default schema.
import { shellWord } from "./shell-word.ts";

/** Adds the schema if it is not the default: `worker retry --schema=billing 2`. */
export function workerLine(schema: string, line: string): string {
  return schema === "worker" ? line : withOptions(line, schemaOption(schema));
}

export function schemaOption(schema: string): string {
  return `--schema=${shellWord(schema)}`;
}

/**
 * Inserts options right after the command's name. At the end of the line they might follow a `--`, and would then count
 * as arguments.
 */
export function withOptions(line: string, options: string): string {
  const end = line.indexOf(" ", "worker ".length);
  if (options === "") return line;
  if (end < 0) return `${line} ${options}`;
  return `${line.substring(0, end)} ${options}${line.substring(end)}`;
}

/** Returns the words as positional arguments, with `--` before the first that looks like an option. */
export function positionals(words: string[]): string {
  let line = "";
  let isAfterDashes = false;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    if (i > 0) line += " ";
    if (!isAfterDashes && word.startsWith("-")) {
      isAfterDashes = true;
      line += "-- ";
    }
    line += shellWord(word);
  }
  return line;
}
