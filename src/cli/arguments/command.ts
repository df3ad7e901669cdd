// A command of the command line. Its help and parsing are derived from the CliCommand.
import type { OptionValue } from "./values.ts";

// biome-ignore lint/suspicious/noExplicitAny: the values of a table have different types
export type Values = Readonly<Record<string, OptionValue<any>>>;

/** The values of a command's arguments, by their names. */
export type ArgumentValues<V extends Values> = {
  readonly [K in keyof V]: V[K] extends OptionValue<infer T> ? T : never;
};

/** 0: success, 1: failure, 3: partial success. For status 2 (wrong usage), a command throws UsageError. */
export type ExitStatus = 0 | 1 | 3;

export interface CliCommand {
  readonly name: string;
  /** Other names of the command. */
  readonly aliases: readonly string[];
  /** One line of help. */
  readonly describe: string;
  /** The positional arguments in order, by their names in the help. */
  readonly positionals: Values;
  /** The options by their keys. `runAt` is typed `--run-at`. */
  readonly options: Values;
  /** Shown below the options in the help. */
  readonly notes: string;
  /** Example command lines. */
  readonly examples: readonly string[];
  /** A destructive command is never suggested for a mistyped word. */
  readonly isDestructive: boolean;
  /** Global options that the command does not support, each with the reason. */
  readonly unsupported: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: makeCommand() checks that `run` fits the arguments and options
  readonly run: (given: any) => Promise<ExitStatus>;
}

/** The parts of a command. If `run` returns undefined, the exit status is 0. */
export interface CommandParts<W extends Values, O extends Values, G> {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly describe: string;
  readonly positionals?: W;
  readonly options?: O;
  readonly notes?: string;
  readonly examples?: readonly string[];
  readonly isDestructive?: boolean;
  readonly unsupported?: Readonly<Record<string, string>>;
  readonly run: (
    given: G & ArgumentValues<W> & ArgumentValues<O>,
  ) => Promise<ExitStatus | undefined>;
}

/** Makes a command of its parts. `G`: the values of the global options. */
export function makeCommand<W extends Values, O extends Values, G>(
  parts: CommandParts<W, O, G>,
): CliCommand {
  return {
    aliases: [],
    positionals: {},
    options: {},
    notes: "",
    examples: [],
    isDestructive: false,
    unsupported: {},
    ...parts,
    run: async (given) => (await parts.run(given)) ?? 0,
  };
}

/** Returns the option of a key: `--run-at` for `runAt` and `run_at`. */
export function optionName(key: string): string {
  return `--${key.replaceAll("_", "-").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
