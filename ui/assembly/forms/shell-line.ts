/** Lines for a shell: only commands that there are (src/cli). */
import { isDigit } from "../lib/json-scanner";
import { isLetter } from "../lib/letters";

/** A line of the command line, for the schema at hand. */
export function shellLine(words: string, schema: string): string {
  return schema === "worker" ? "worker " + words : `worker ${words} --schema ${quoted(schema)}`;
}

/** An argument without a name; one that looks like an option has its name. */
export function argument(name: string, value: string): string {
  return value.startsWith("-") ? ` --${name}=${quoted(value)}` : " " + quoted(value);
}

/** As every shell of Unix reads it back. */
export function quoted(word: string): string {
  let plain = word.length > 0 && word.charCodeAt(0) !== 0x2d;
  for (let i = 0; plain && i < word.length; i++) {
    const c = word.charCodeAt(i);
    plain = isDigit(c) || isLetter(c) || ":.,_/@+-".includes(word.charAt(i));
  }
  return plain ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}
