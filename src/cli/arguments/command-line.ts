// Registers the commands and their options with yargs, which splits the arguments and lays out the help.
import yargs, { type Argv } from "yargs";
import { type CliCommand, optionName, type Values } from "./command.ts";
import { variableOf } from "./environment.ts";
import { didYouMean } from "./nearest.ts";
import { UsageError } from "./refusals.ts";
import { explained, type OptionValue } from "./values.ts";

/** The arguments as yargs splits them. */
export interface RawArguments {
  /** Every argument, as the shell passed it. */
  readonly argv: readonly string[];
  /** The named command; the program itself if no command is named. */
  readonly command: CliCommand;
  /** Positional arguments, without the command's name. */
  readonly words: readonly string[];
  /** Everything after `--`. */
  readonly rest: readonly string[];
  /**
   * The typed options, by their names without leading dashes. If an option that takes a value was repeated, its entry
   * is an array.
   */
  readonly options: Readonly<Record<string, unknown>>;
}

interface ParseState {
  command: CliCommand;
  readonly options: Record<string, unknown>;
}

/**
 * Splits the arguments. `program` has the global options. Throws UsageError for an unknown command, for an option
 * without its value, and for a flag with a value.
 */
export function typedIn(
  argv: readonly string[],
  program: CliCommand,
  commands: readonly CliCommand[],
): RawArguments {
  const found: ParseState = { command: program, options: {} };
  // If the command comes first, as nearly always, the other commands need not be registered.
  const named = commands.filter((one) => namesOf(one).includes(argv[0] ?? ""));
  const candidates = named.length > 0 ? named : commands;
  const { _, "--": rest } = commandLine(argv, program, candidates, found, false).parseSync();
  const words = _.map(String);
  if (found.command === program) refuseUnknown(words, commands);
  else words.shift();
  return { ...found, argv, words, rest: Array.isArray(rest) ? rest.map(String) : [] };
}

/** Returns the help of the named command, or of the program. Throws UsageError for an unknown command. */
export async function helpFor(
  argv: readonly string[],
  program: CliCommand,
  commands: readonly CliCommand[],
): Promise<string> {
  const found: ParseState = { command: program, options: {} };
  const line = commandLine(argv, program, commands, found, true);
  const text = await line.getHelp();
  const words = line.parsed === false ? [] : line.parsed.argv._;
  if (found.command === program) refuseUnknown(words.map(String), commands);
  // yargs omits the space before `[default: …]` when the two columns of the help fill a line.
  return `${text.replaceAll(/(?<=\S)\[(?=default|aliases|boolean)/g, " [")}\n`;
}

function refuseUnknown([name]: readonly string[], commands: readonly CliCommand[]): void {
  if (name === undefined) return;
  // Never suggests a destructive command, because a user may run the suggestion without reading it.
  const owners = new Map(commands.flatMap((one) => namesOf(one).map((each) => [each, one])));
  const isHarmless = (each: string) => owners.get(each)?.isDestructive !== true;
  const hint = didYouMean(name, [...owners.keys()], isHarmless);
  throw new UsageError(`unknown command "${name}"${hint}`);
}

const namesOf = ({ name, aliases }: CliCommand) => [name, ...aliases];

const WIDTH = 100;

/** Texts of yargs, each with the text that replaces it. */
const sentences = {
  "Positionals:": "Arguments:",
  "Not enough arguments following: %s": "--%s needs a value",
  "Argument unexpected for: %s": "--%s takes no value",
};

/** With these settings, yargs keeps names and values as typed. */
const parsing = {
  "camel-case-expansion": false,
  "dot-notation": false,
  "parse-numbers": false,
  "parse-positional-numbers": false,
  "populate--": true,
  "strip-aliased": true,
};

/** Keys of the yargs result that are not options. */
const fields = ["$0", "_", "--"];

function commandLine(
  argv: readonly string[],
  program: CliCommand,
  commands: readonly CliCommand[],
  found: ParseState,
  isHelp: boolean,
): Argv {
  // The folder "/" keeps yargs from reading the working directory, which may no longer exist.
  const line = yargs([...argv], "/")
    .scriptName("") // without this, the script's name precedes each command in the list
    .wrap(WIDTH)
    .updateStrings(sentences)
    .parserConfiguration(parsing)
    // The built-in help command would treat a last word `help` as a request for help. But `add help` adds a job.
    .help(false)
    .version(false)
    .exitProcess(false)
    // The checks of yargs fail on names such as "constructor", so the options are moved out of reach of the checks.
    .middleware((typed) => {
      for (const name of Object.keys(typed)) {
        if (fields.includes(name)) continue;
        found.options[name] = typed[name];
        delete typed[name];
      }
    }, true)
    .fail((message) => {
      throw new UsageError(message.replace(/^--(?=. )/, "-"), found.command.name);
    });
  if (isHelp) explain(line, program);
  addOptions(line, program.options, isHelp ? "Options of every command:" : null);
  for (const command of commands) {
    splitByOptionsOf(line, command);
    line.command(namesOf(command), command.describe, (own) => {
      found.command = command;
      if (isHelp) explain(own, { ...command, notes: notesOf(command) });
      addPositionals(own, command.positionals);
      addOptions(own, command.options, isHelp ? "Options:" : null);
      for (const key of Object.keys(command.unsupported)) own.hide(bare(optionName(key)));
    });
  }
  return line;
}

function explain(line: Argv, { name, positionals, describe, notes }: CliCommand): void {
  const forms = Object.entries(positionals).map(([key, { many, optional }]) => {
    const form = many ? `${key}...` : key;
    return optional ? `[${form}]` : `<${form}>`;
  });
  const usage = ["worker", name === "" ? "<command>" : name, ...forms, "[options]"].join(" ");
  line.usage(`${usage}\n\n${describe}`).epilogue(notes.replaceAll(LINE_BREAK, " "));
}

/** A line break within a paragraph: not beside an empty line, and not before an indented line. */
const LINE_BREAK = /(?<=\S)\n(?=\S)/g;

function notesOf(command: CliCommand): string {
  const lines = command.examples.map((line) => `\n  ${line}`).join("");
  const shown = lines === "" ? "" : `Examples:${lines}`;
  return [command.notes, environmentNote(command), shown].filter(Boolean).join("\n\n");
}

function environmentNote(command: CliCommand): string {
  const keys = Object.keys(command.options).filter((key) => variableOf(key, command) !== null);
  const example = keys[0];
  if (example === undefined) return "";
  const all = variableOf("option", command)?.replace(/OPTION$/, "<OPTION>");
  const such = `${optionName(example)} is ${variableOf(example, command)}`;
  return `Options can be set in the environment as ${all}: ${such}.`;
}

/**
 * Registers a command's arguments at the top level, too. Without this, a flag that is typed before the command's name
 * would take the command's name as its value.
 */
function splitByOptionsOf(line: Argv, { positionals, options }: CliCommand): void {
  for (const [key, value] of [...Object.entries(positionals), ...Object.entries(options)]) {
    for (const name of [optionName(key), ...value.aliases]) {
      line.option(bare(name), { ...argumentCount(value), global: false, hidden: true });
    }
  }
}

function addPositionals(line: Argv, positionals: Values): void {
  for (const [key, value] of Object.entries(positionals)) {
    const { aliases, fallback } = value;
    // A positional argument with aliases may also be typed as an option. yargs does not support this, so the aliases
    // are registered here.
    const also = aliases.length === 0 ? "" : ` (also: ${aliases.join(", ")})`;
    const describe = `${explained(value, null)}${also}`;
    const shown = { describe, defaultDescription: fallback ?? undefined };
    line.positional(key, shown);
    for (const name of aliases) line.nargs(bare(name), 1);
  }
}

/** `group`: the heading of the options in the help; null hides the options. */
function addOptions(line: Argv, options: Values, group: string | null): void {
  for (const [key, value] of Object.entries(options)) {
    const { describe, form, many, fallback } = value;
    const name = bare(optionName(key));
    const alias = value.aliases.map(bare);
    const place = group === null ? { hidden: true } : { group };
    if (form !== null) {
      const about = `<${form}> ${explained(value, form)}${many ? " (repeatable)" : ""}`;
      const defaultDescription = fallback ?? undefined;
      line.option(name, {
        alias,
        describe: about,
        defaultDescription,
        ...argumentCount(value),
        ...place,
      });
      continue;
    }
    line.boolean(name).alias(name, alias).nargs(name, 0).nargs(`no-${name}`, 0);
    const isOn = value.read([]) === true;
    line.option(isOn ? `no-${name}` : name, { describe, boolean: true, ...place });
  }
}

function argumentCount({ form, bare: mayBeBare }: OptionValue<unknown>) {
  if (mayBeBare === true) return { string: true } as const;
  return { nargs: form === null ? 0 : 1 };
}

function bare(name: string): string {
  return name.replace(/^--?/, "");
}
