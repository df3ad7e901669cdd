// A manual page in man(7), made of the commands' own records.
import { VERSION } from "../../../base/version.ts";
import { type Command, optionName, type Values } from "../../arguments/command.ts";
import { variableOf } from "../../arguments/environment.ts";

export function manualPage(program: Command, commands: readonly Command[]): string {
  const lines = [
    `.TH WORKER 1 "" "worker ${VERSION}" "User Commands"`,
    ".SH NAME",
    "worker \\- a job queue on PostgreSQL",
    ".SH SYNOPSIS",
    ".B worker",
    ".RI < command >",
    ".RI [ options ]",
    ".SH DESCRIPTION",
    escaped(program.describe),
    ".SH COMMANDS",
    ...commands.flatMap(commandLines),
    ".SH OPTIONS OF EVERY COMMAND",
    ...optionLines(program.options, null),
    ".SH NOTES",
    ...paragraphs(program.notes),
    ".SH FILES",
    ...paragraphs(
      "~/.pgpass, ~/.pg_service.conf, ~/.postgresql: passwords, services and certificates, as for psql(1).",
    ),
    ".SH SEE ALSO",
    escaped("psql(1), systemd.exec(5) about credentials"),
  ];
  return `${lines.join("\n")}\n`;
}

function commandLines(command: Command): string[] {
  const { name, aliases, describe, words, options, notes } = command;
  const forms = Object.entries(words).map(([key, { many, optional }]) => {
    const form = many ? `${key}...` : key;
    return optional ? `[${form}]` : `<${form}>`;
  });
  const also = aliases.length === 0 ? [] : [`Also: ${escaped(aliases.join(", "))}.`];
  return [
    `.SS ${escaped(["worker", name, ...forms].join(" "))}`,
    `${escaped(describe)}.`,
    ...also,
    ...paragraphs(notes),
    ...Object.entries(words).flatMap(([key, value]) => [
      ".TP",
      `.I ${escaped(key)}`,
      escaped(value.describe),
    ]),
    ...optionLines(options, command),
  ];
}

function optionLines(options: Values, command: Command | null): string[] {
  return Object.entries(options).flatMap(([key, value]) => {
    const { form, describe, aliases, fallback, many } = value;
    const isOn = form === null && value.read([]) === true;
    const name = isOn ? optionName(key).replace("--", "--no-") : optionName(key);
    const variables = [variableOf(key, command) ?? [], value.variables ?? []].flat();
    const more = [
      many ? "May be given more than once." : "",
      fallback === null || fallback === "" ? "" : `Default: ${fallback}.`,
      variables.length === 0 ? "" : `Environment: ${variables.join(", ")}.`,
    ].filter(Boolean);
    const names = [name, ...aliases].map((one) => `\\fB${escaped(one)}\\fR`).join(", ");
    const argument = form === null ? "" : ` \\fI${escaped(form)}\\fR`;
    const about = /[.?!]$/.test(describe) ? describe : `${describe}.`;
    return [".TP", `${names}${argument}`, escaped([about, ...more].join(" "))];
  });
}

function paragraphs(text: string): string[] {
  const blocks = text.split(/\n\s*\n/).filter((block) => block.trim() !== "");
  return blocks.flatMap((block) => [".PP", ...block.split("\n").map(escaped)]);
}

/** As it stands: no line begins a request, no backslash an escape; other letters by their codes. */
function escaped(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-");
  const ascii = plain.replaceAll(/[^ -~]/gu, (letter) => {
    const code = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `\\[u${code}]`;
  });
  return /^[.']/.test(ascii) ? `\\&${ascii}` : ascii;
}
