/** Text inside of another language, a query or Markdown: names and errors are anybody's, and stay text. */

/** A text as a query has it in quotes: one value, whatever it holds. */
export function quoted(text: string): string {
  return '"' + text.replaceAll("\\", "\\\\").replaceAll('"', '\\"') + '"';
}

/** What a value of a query says, in quotes or not. */
export function unquoted(text: string): string {
  if (!text.startsWith('"') || text.length < 2) return text;
  let out = "";
  for (let i = 1; i < text.length - 1; i++) {
    if (text.charAt(i) === "\\") i++;
    out += text.charAt(i);
  }
  return out;
}

/** In a line of Markdown: what Markdown would take for its own is left as it stands. */
export function plain(said: string): string {
  let out = "";
  for (let i = 0; i < said.length; i++) {
    const c = said.charAt(i);
    if ("*_`[]<>#\\|".includes(c)) out += "\\";
    out += c === "\n" || c === "\r" ? " " : c;
  }
  return out;
}

/** As code in a line; what would end it is another mark. */
export function codeSpan(said: string): string {
  return "`" + said.replaceAll("`", "'").replaceAll("\n", " ") + "`";
}

/** The first `most` lines as a block of code. */
export function codeBlock(said: string, most: i32): string {
  const lines = said.replaceAll("```", "'''").split("\n");
  const shown = lines.slice(0, most);
  if (lines.length > most) shown.push("…");
  return "```\n" + shown.join("\n") + "\n```";
}
