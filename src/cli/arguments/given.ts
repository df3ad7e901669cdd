// From what was typed to a command's values. yargs has split it; what does not fit is said here, in
// the names that were typed, and all bad values at once.
import { InputError, type Problem } from "../../base/errors.ts";
import { type CliCommand, optionName, type Values } from "./command.ts";
import type { Typed } from "./command-line.ts";
import { type Environment, optionsOfEnvironment } from "./environment.ts";
import { didYouMean } from "./nearest.ts";
import { Unfit, UsageError } from "./refusals.ts";
import type { OptionValue } from "./values.ts";

interface Option {
  readonly key: string;
  readonly value: OptionValue<unknown>;
}

/** What was typed for each key. */
type Texts = ReadonlyMap<string, readonly string[]>;

export interface GivenValues {
  /** By the keys of the command's words and options and of the global options. */
  readonly given: Readonly<Record<string, unknown>>;
  /** How a key was typed, or which variable said it; null: nobody said anything. */
  whereOf(key: string): string | null;
}

/**
 * What was typed counts before what the environment says. Throws UsageError when the arguments do not
 * fit the command, and InputError with all problems when their values do not.
 */
export function givenIn(typed: Typed, globals: Values, env: Environment): GivenValues {
  const { command } = typed;
  const options = textsOfOptions(typed, { ...globals, ...command.options });
  const typedTexts = new Map([...options, ...textsOfWords(typed, options)]);
  const fromEnvironment = optionsOfEnvironment(command, globals, env, (key) => typedTexts.has(key));
  const textsOf = (key: string) => typedTexts.get(key) ?? fromEnvironment.get(key)?.texts ?? [];
  const values = { ...globals, ...command.words, ...command.options };
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
      if (!(error instanceof Unfit)) throw error;
      const path = whereOf(key) ?? optionName(key);
      if (error.isChoice) throw new UsageError(`${path}: ${error.message}`, command.name);
      problems.push({ path, message: error.message });
    }
  }
  if (problems.length > 0) throw new InputError(problems);
  return { given, whereOf };
}

function textsOfOptions({ command, argv, words, options }: Typed, values: Values): Texts {
  const known = knownOptions(command.words, values);
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
    const reason = command.refuses[key];
    if (reason !== undefined) {
      throw new UsageError(`${command.name} takes no ${spelling(name, argv)}: ${reason}`);
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

/** yargs takes `--y` for `-y`, and `--_` and `--$0` for fields of its own. */
function misreadIn(argv: readonly string[]): string | undefined {
  const end = argv.indexOf("--");
  return argv
    .slice(0, end < 0 ? undefined : end)
    .find((word) => /^--(no-)?(.|\$0)(=|$)/.test(word))
    ?.replace(/=.*/s, "");
}

/** By their names without dashes. A word may be known as an option, too. */
function knownOptions(words: Values, options: Values): ReadonlyMap<string, Option> {
  const known = new Map<string, Option>();
  for (const [key, value] of Object.entries(words)) {
    for (const alias of value.aliases) known.set(alias.slice(2), { key, value });
  }
  for (const [key, value] of Object.entries(options)) {
    known.set(optionName(key).slice(2), { key, value });
  }
  return known;
}

/** Which of its names an option was given by. */
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

/** How the option `name` was typed. */
function spelling(name: string, argv: readonly string[]): string {
  const plain = name === "___proto___" ? "__proto__" : name; // yargs keeps it from being one
  const spellings = [`--${plain}`, `--no-${plain}`, `-${plain}`];
  return spellings.find((one) => isIn(argv, one)) ?? `-${plain}`;
}

/** Options of earlier versions. */
const REMOVED: Readonly<Record<string, string>> = {
  "--fast-queues": "named queues always use the ordinary lock; leave it out",
};

/** Names that other programs give to options of ours. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "--port": "--listen",
  "--host": "--listen",
  "--bind": "--listen",
};

function unknownOption(typed: string, command: CliCommand, options: Values): UsageError {
  const removed = Object.hasOwn(REMOVED, typed) ? REMOVED[typed] : undefined;
  if (removed !== undefined)
    return new UsageError(`${typed} was removed: ${removed}`, command.name);
  const known = [
    ...Object.values(command.words).flatMap(({ aliases }) => aliases),
    ...Object.entries(options).flatMap(([key, { aliases, form }]) => {
      const option = optionName(key);
      const denied = form === null ? [option.replace("--", "--no-")] : [];
      return [option, ...aliases, ...denied];
    }),
  ];
  const other = Object.hasOwn(ELSEWHERE, typed) ? ELSEWHERE[typed] : undefined;
  const hint =
    other !== undefined && known.includes(other)
      ? `; did you mean "${other} 127.0.0.1:5678"?`
      : didYouMean(typed, known, isHarmless);
  return new UsageError(`${nameOf(command)} has no option ${typed}${hint}`, command.name);
}

const nameOf = ({ name }: CliCommand) => (name === "" ? "worker" : name);

/** These do away with a question or a bound. */
const isHarmless = (name: string) => !["--yes", "-y", "--all", "--fresh"].includes(name);

function textsOfWords({ command, words, rest }: Typed, options: Texts): Texts {
  const texts = new Map<string, string[]>();
  const left = [...words, ...rest];
  for (const [key, value] of Object.entries(command.words)) {
    if (options.has(key)) continue;
    const taken = value.many ? left.splice(0) : left.splice(0, 1);
    if (taken.length === 0 && !value.optional) {
      // A word of capitals, such as JSON, stays one.
      const what = value.describe.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
      throw new UsageError(`<${key}> is missing: ${what}`, command.name);
    }
    if (taken.length > 0) texts.set(key, taken);
  }
  if (left.length > 0) {
    const much = left.map((word) => `"${word}"`).join(", ");
    throw new UsageError(`${nameOf(command)} does not know what to do with ${much}`, command.name);
  }
  return texts;
}
