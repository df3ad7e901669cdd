// Suggested commands: every line `worker <command> …` that a message, an answer or a screen shows is made here, so
// that it works on the queue that the message is about.
import { shellWord } from "./shell-word.ts";

/** `worker retry 2` for a schema of another name: `worker retry --schema=billing 2`. */
export function workerLine(schema: string, line: string): string {
  return schema === "worker" ? line : withOptions(line, schemaOption(schema));
}

export function schemaOption(schema: string): string {
  return `--schema=${shellWord(schema)}`;
}

/** The line with more options behind the command's name: behind its words they could follow a `--`. */
export function withOptions(line: string, options: string): string {
  const end = line.indexOf(" ", "worker ".length);
  if (options === "") return line;
  if (end < 0) return `${line} ${options}`;
  return `${line.substring(0, end)} ${options}${line.substring(end)}`;
}
