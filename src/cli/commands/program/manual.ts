// The program's manual as data, made from the definitions of the commands (CliCommand). The manual page and
// docs/reference/command-line.md are made from this data.
import { type CliCommand, optionName, type Values } from "../../arguments/command.ts";
import { variableOf } from "../../arguments/environment.ts";
import { explained } from "../../arguments/values.ts";

export interface ManualOption {
  /** The option's name, as it is typed, and its aliases. For a flag that is on by default, the name is `--no-…`. */
  readonly names: readonly string[];
  /** The placeholder of the option's value; null for a flag. */
  readonly form: string | null;
  /** The description, as a sentence. */
  readonly about: string;
  readonly isRepeatable: boolean;
  readonly fallback: string | null;
  /** The environment variables that set the option. */
  readonly variables: readonly string[];
}

export interface ManualCommand {
  /** The command with its arguments, such as `worker show <id>`. */
  readonly synopsis: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly about: string;
  readonly positionals: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly ManualOption[];
  readonly notes: string;
  readonly examples: readonly string[];
}

export interface Manual {
  readonly about: string;
  readonly commands: readonly ManualCommand[];
  /** The global options. A few commands do not support all of them. */
  readonly options: readonly ManualOption[];
  readonly notes: string;
}

export function manualOf(program: CliCommand, commands: readonly CliCommand[]): Manual {
  return {
    about: program.describe,
    commands: commands.map(manualCommand),
    options: manualOptions(program.options, null),
    notes: program.notes,
  };
}

function manualCommand(command: CliCommand): ManualCommand {
  const { name, aliases, describe, positionals, options, notes, examples } = command;
  const forms = Object.entries(positionals).map(([key, { many, optional }]) => {
    const form = many ? `${key}...` : key;
    return optional ? `[${form}]` : `<${form}>`;
  });
  return {
    synopsis: ["worker", name, ...forms].join(" "),
    ...{ name, aliases, notes, examples },
    about: sentence(describe),
    positionals: Object.entries(positionals).map(([key, value]) => ({
      name: key,
      about: explained(value, null),
    })),
    options: manualOptions(options, command),
  };
}

function manualOptions(options: Values, command: CliCommand | null): ManualOption[] {
  return Object.entries(options).map(([key, value]) => {
    const { form, aliases, fallback, many } = value;
    const isOn = form === null && value.read([]) === true;
    const name = isOn ? optionName(key).replace("--", "--no-") : optionName(key);
    return {
      names: [name, ...aliases],
      form,
      about: sentence(explained(value, form)),
      isRepeatable: many,
      fallback: isOn || fallback === "" ? null : fallback,
      variables: [variableOf(key, command) ?? [], value.variables ?? []].flat(),
    };
  });
}

const sentence = (text: string) => (/[.?!]$/.test(text) ? text : `${text}.`);
