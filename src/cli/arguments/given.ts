// Reads the values of a command's options and positional arguments. Errors name an option as it was typed.
import { InputError, type Problem } from "../../base/errors.ts";
import { type CliCommand, optionName, type Values } from "./command.ts";
import type { RawArguments } from "./command-line.ts";
import { type Environment, optionsOfEnvironment } from "./environment.ts";
import { didYouMean } from "./nearest.ts";
import { InvalidValue, UsageError } from "./refusals.ts";
import type { OptionValue } from "./values.ts";

interface Option {
  readonly key: string;
  readonly value: OptionValue<unknown>;
}

/** The texts typed for each key. */
type Texts = ReadonlyMap<string, readonly string[]>;

export interface GivenValues {
  /** The values, by the keys of the command's arguments and options and of the global options. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Returns the name under which `key` was typed, or its source in the environment; null if `key` was not set. */
  whereOf(key: string): string | null;
}

/**
 * Returns the values of a command. Typed values override the environment. Throws UsageError if an argument does not fit
 * the command, or if a value is not one of the option's choices. Throws InputError if values are otherwise invalid.
 */
export function givenIn(typed: RawArguments, globals: Values, env: Environment): GivenValues {
  const { command } = typed;
  const options = textsOfOptions(typed, { ...globals, ...command.options });
  const typedTexts = new Map([...options, ...textsOfPositionals(typed, options)]);
  const fromEnvironment = optionsOfEnvironment(command, globals, env, (key) => typedTexts.has(key));
  const textsOf = (key: string) => typedTexts.get(key) ?? fromEnvironment.get(key)?.texts ?? [];
  const values = { ...globals, ...command.positionals, ...command.options };
  const whereOf = (key: string) => {
    if (!typedTexts.has(key)) return fromEnvironment.get(key)?.where ?? null;
    return options.has(key) ? typedName(key, values[key], typed.argv) : `<${key}>`;
  };
  const given: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const [key, value] of Object.entries(values)) {
    try {
      given[key] = value.read(textsOf(key));
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      const path = whereOf(key) ?? optionName(key);
      if (error.isChoice) throw new UsageError(`${path}: ${error.message}`, command.name);
      problems.push({ path, message: error.message });
    }
  }
  if (problems.length > 0) throw new InputError(problems);
  return { given, whereOf };
}

function textsOfOptions({ command, argv, words, options }: RawArguments, values: Values): Texts {
  const known = knownOptions(command.positionals, values);
  const misread = misreadIn(argv) ?? words.find((word) => /^-./.test(word));
  if (misread !== undefined) throw unknownOption(misread, command, values);
  const texts = new Map<string, string[]>();
  for (const [name, typed] of Object.entries(options)) {
    const option = known.get(name);
    const isFlag = option?.value.form === null;
    if (option === undefined || (typed === false && !isFlag)) {
      throw unknownOption(spelling(name, argv), command, values);
    }
    const { key, value } = option;
    const reason = command.unsupported[key];
    if (reason !== undefined) {
      throw new UsageError(`${command.name} does not support ${spelling(name, argv)}: ${reason}`);
    }
    const all = [...(texts.get(key) ?? []), ...[typed].flat().map(String)];
    if (all.length > 1 && !value.many) {
      const name = typedName(key, value, argv);
      throw new UsageError(`${name} was given more than once`, command.name);
    }
    texts.set(key, all);
  }
  return texts;
}

/**
 * Returns the first option that yargs would misread: yargs accepts `--y` for `-y`, and treats `--_` and `--$0` as
 * fields of its own.
 */
function misreadIn(argv: readonly string[]): string | undefined {
  const end = argv.indexOf("--");
  return argv
    .slice(0, end < 0 ? undefined : end)
    .find((word) => /^--(no-)?(.|\$0)(=|$)/.test(word))
    ?.replace(/=.*/s, "");
}

/** The aliases of a positional argument are options, too. */
function knownOptions(positionals: Values, options: Values): ReadonlyMap<string, Option> {
  const known = new Map<string, Option>();
  for (const [key, value] of Object.entries(positionals)) {
    for (const alias of value.aliases) known.set(alias.slice(2), { key, value });
  }
  for (const [key, value] of Object.entries(options)) {
    known.set(optionName(key).slice(2), { key, value });
  }
  return known;
}

function typedName(
  key: string,
  value: OptionValue<unknown> | undefined,
  argv: readonly string[],
): string {
  const names = [optionName(key), ...(value?.aliases ?? [])];
  return names.find((name) => isIn(argv, name)) ?? optionName(key);
}

const isIn = (argv: readonly string[], name: string) =>
  argv.some((word) => word === name || word.startsWith(`${name}=`));

/** Returns how the option `name` was typed: with one dash, with two, or with `--no-`. */
function spelling(name: string, argv: readonly string[]): string {
  const plain = name === "___proto___" ? "__proto__" : name; // yargs renames this option.
  const spellings = [`--${plain}`, `--no-${plain}`, `-${plain}`];
  return spellings.find((one) => isIn(argv, one)) ?? `-${plain}`;
}

/** Options that were removed, with what to do instead. */
const REMOVED: Readonly<Record<string, string>> = {
  "--fast-queues": "named queues are always locked by locked_by; remove this option",
};

/** Option names of other programs, each with the option of this program. */
const FOREIGN_OPTIONS: Readonly<Record<string, string>> = {
  "--port": "--listen",
  "-p": "--listen",
  "--host": "--listen",
  "--bind": "--listen",
};

function unknownOption(typed: string, command: CliCommand, options: Values): UsageError {
  const removed = Object.hasOwn(REMOVED, typed) ? REMOVED[typed] : undefined;
  if (removed !== undefined)
    return new UsageError(`${typed} was removed: ${removed}`, command.name);
  const known = [
    ...Object.values(command.positionals).flatMap(({ aliases }) => aliases),
    ...Object.entries(options).flatMap(([key, { aliases, form }]) => {
      const option = optionName(key);
      const negated = form === null ? [option.replace("--", "--no-")] : [];
      return [option, ...aliases, ...negated];
    }),
  ];
  const other = Object.hasOwn(FOREIGN_OPTIONS, typed) ? FOREIGN_OPTIONS[typed] : undefined;
  const hint =
    other !== undefined && known.includes(other)
      ? `; did you mean "${other} 127.0.0.1:5678"?`
      : didYouMean(typed, known, maySuggest);
  return new UsageError(`${nameOf(command)} has no option ${typed}${hint}`, command.name);
}

const nameOf = ({ name }: CliCommand) => (name === "" ? "worker" : name);

/** Options that skip a confirmation, select everything or delete data are never suggested. */
const maySuggest = (name: string) => !["--yes", "-y", "--all", "--fresh"].includes(name);

function textsOfPositionals({ command, words, rest }: RawArguments, options: Texts): Texts {
  const texts = new Map<string, string[]>();
  const remaining = [...words, ...rest];
  for (const [key, value] of Object.entries(command.positionals)) {
    if (options.has(key)) continue;
    const taken = value.many ? remaining.splice(0) : remaining.splice(0, 1);
    if (taken.length === 0 && !value.optional) {
      // The first letter becomes lowercase, except in an acronym such as JSON.
      const what = value.describe.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
      throw new UsageError(`<${key}> is missing: ${what}`, command.name);
    }
    if (taken.length > 0) texts.set(key, taken);
  }
  if (remaining.length > 0) {
    const unexpected = remaining.map((word) => `"${word}"`).join(", ");
    throw new UsageError(
      `${nameOf(command)}: unexpected ${remaining.length === 1 ? "argument" : "arguments"} ${unexpected}`,
      command.name,
    );
  }
  return texts;
}
