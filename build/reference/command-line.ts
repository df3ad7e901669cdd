// Converts the program's manual (manual.ts) to the text of docs/reference/command-line.md. `worker man` prints the same
// manual.
import type { Manual, ManualCommand, ManualOption } from "../../src/cli/commands/program/manual.ts";
import { code, generated, plain, table } from "./table.ts";

export function commandLinePage({ about, commands, options, notes }: Manual): string {
  const contents = commands.map(({ name, about: text }) => [
    `[${code(name)}](#worker-${name})`,
    plain(text),
  ]);
  return [
    "# Command line reference",
    "",
    generated("the commands' declarations, as are `--help` and `worker man`"),
    "",
    plain(about),
    "",
    ...table(["command", ""], contents),
    "## Options of every command",
    "",
    ...optionTable(options),
    ...paragraphs(notes),
    ...commands.flatMap(section),
  ].join("\n");
}

function section({
  synopsis,
  name,
  aliases,
  about,
  positionals,
  options,
  notes,
  examples,
}: ManualCommand): string[] {
  const also = aliases.length === 0 ? "" : ` Also: ${aliases.map(code).join(", ")}.`;
  const rows = positionals.map((word) => [code(word.name), plain(word.about)]);
  return [
    `## worker ${name}`,
    "",
    "```text",
    `${synopsis}${options.length === 0 ? "" : " [options]"}`,
    "```",
    "",
    `${plain(about)}${also}`,
    "",
    ...table(["argument", ""], rows),
    ...optionTable(options),
    ...paragraphs(notes),
    ...(examples.length === 0 ? [] : ["```text", ...examples, "```", ""]),
  ];
}

function optionTable(options: readonly ManualOption[]): string[] {
  const rows = options.map(({ names, form, about, isRepeatable, fallback, variables }) => {
    const typed = names.map(code).join(" ");
    const argument = form === null ? "" : ` ${plain(form)}`;
    const more = isRepeatable ? " May be repeated." : "";
    const known = fallback === null ? "" : code(fallback);
    return [`${typed}${argument}`, plain(about) + more, known, variables.map(code).join(" ")];
  });
  return table(["option", "", "default", "environment"], rows);
}

/**
 * Returns the text as lines of Markdown. A paragraph with two spaces in a row may have columns that are aligned by
 * spaces, so it becomes a code block with the same text.
 */
function paragraphs(text: string): string[] {
  const blocks = text.split(/\n\s*\n/).filter((block) => block.trim() !== "");
  return blocks.flatMap((block) =>
    / {2}/.test(block) ? ["```text", block, "```", ""] : [plain(block), ""],
  );
}
