/**
 * Quotes and unquotes texts of queries, and escapes texts for Markdown, so that a name or an error is not read as
 * syntax.
 */

import { lower, replaced } from "./letters";
import { visible } from "./visible";

export { quote } from "../../../src/domain/portable/query/quote";

/** Returns the value of a query's term without its quotes and escapes. A value without quotes stays as it is. */
export function unquote(text: string): string {
  if (!text.startsWith('"') || text.length < 2) return text;
  let out = "";
  for (let i = 1; i < text.length - 1; i++) {
    if (text.charAt(i) === "\\") i++;
    out += text.charAt(i);
  }
  return out;
}

/**
 * Returns a text for a line of Markdown in a chat. Most characters with a meaning in Markdown get a backslash. A word
 * with `@`, `://` or `www.` becomes code, because a chat could turn it into a mention or a link.
 */
export function plain(value: string): string {
  const words = oneLine(value).split(" ");
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    words[i] = isLinked(word) ? codeSpan(word) : escaped(word);
  }
  return words.join(" ");
}

function isLinked(word: string): bool {
  return word.includes("@") || word.includes("://") || lower(word).includes("www.");
}

function escaped(word: string): string {
  let out = "";
  for (let i = 0; i < word.length; i++) {
    const c = word.charAt(i);
    out += "*_`[]<>#\\|".includes(c) ? "\\" + c : c;
  }
  return out;
}

function oneLine(value: string): string {
  return visible(replaced(replaced(replaced(value, "\r\n", " "), "\n", " "), "\r", " "), false);
}

/** Returns a text as code in a line of Markdown, with apostrophes in place of backticks. */
export function codeSpan(value: string): string {
  return "`" + replaced(oneLine(value), "`", "'") + "`";
}

/** Returns the first `most` lines of a text as a block of code in Markdown. */
export function codeBlock(value: string, most: i32): string {
  const lines = replaced(visible(value, true), "```", "'''").split("\n");
  const shown = lines.slice(0, most);
  if (lines.length > most) shown.push("…");
  return "```\n" + shown.join("\n") + "\n```";
}
