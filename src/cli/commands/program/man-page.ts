// Turns the manual (manual.ts) into the text of a manual page, in the format of man(7).
import { VERSION } from "../../../base/version.ts";
import type { Manual, ManualCommand, ManualOption } from "./manual.ts";

export function manualPage({ about, commands, options, notes }: Manual): string {
  const lines = [
    `.TH WORKER 1 "" "worker ${VERSION}" "User Commands"`,
    ".SH NAME",
    "worker \\- a job queue on PostgreSQL",
    ".SH SYNOPSIS",
    ".B worker",
    ".RI < command >",
    ".RI [ options ]",
    ".SH DESCRIPTION",
    escapeText(about),
    ".SH COMMANDS",
    ...commands.flatMap(commandLines),
    ".SH OPTIONS OF EVERY COMMAND",
    ...options.flatMap(optionLines),
    ".SH NOTES",
    ...paragraphs(notes),
    ".SH FILES",
    ...paragraphs(
      "~/.pgpass, ~/.pg_service.conf, ~/.postgresql: passwords, services and certificates, as for psql(1).",
    ),
    ".SH SEE ALSO",
    escapeText("psql(1), systemd.exec(5) about credentials"),
  ];
  return `${lines.join("\n")}\n`;
}

function commandLines({
  synopsis,
  aliases,
  about,
  notes,
  positionals,
  options,
  examples,
}: ManualCommand): string[] {
  return [
    `.SS ${escapeText(synopsis)}`,
    escapeText(about),
    ...(aliases.length === 0 ? [] : [`Also: ${escapeText(aliases.join(", "))}.`]),
    ...paragraphs(notes),
    ...positionals.flatMap((word) => [
      ".TP",
      `.I ${escapeText(word.name)}`,
      escapeText(word.about),
    ]),
    ...options.flatMap(optionLines),
    ...examples.flatMap((line) => [".PP", `\\fB${escapeText(line)}\\fR`]),
  ];
}

function optionLines({
  names,
  form,
  about,
  isRepeatable,
  fallback,
  variables,
}: ManualOption): string[] {
  const more = [
    isRepeatable ? "May be repeated." : "",
    fallback === null ? "" : `Default: ${fallback}.`,
    variables.length === 0 ? "" : `Environment: ${variables.join(", ")}.`,
  ].filter(Boolean);
  const typed = names.map((one) => `\\fB${escapeText(one)}\\fR`).join(", ");
  const argument = form === null ? "" : ` \\fI${escapeText(form)}\\fR`;
  return [".TP", `${typed}${argument}`, escapeText([about, ...more].join(" "))];
}

function paragraphs(text: string): string[] {
  const blocks = text.split(/\n\s*\n/).filter((block) => block.trim() !== "");
  return blocks.flatMap((block) => [".PP", ...block.split("\n").map(escapeText)]);
}

/** Escapes a line for troff: backslashes, dashes, characters outside printable ASCII, and a dot or ' at the start. */
function escapeText(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-");
  const ascii = plain.replaceAll(/[^ -~]/gu, (letter) => {
    const code = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `\\[u${code}]`;
  });
  return /^[.']/.test(ascii) ? `\\&${ascii}` : ascii;
}
