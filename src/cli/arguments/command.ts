// A command of the command line. Help, parsing and the names in error messages are derived from the CliCommand.
import type { OptionValue } from "./values.ts";

// biome-ignore lint/suspicious/noExplicitAny: the values of a table have different types
export type Values = Readonly<Record<string, OptionValue<any>>>;

/** The values of a command's arguments, by their names. */
export type ArgumentValues<V extends Values> = {
  readonly [K in keyof V]: V[K] extends OptionValue<infer T> ? T : never;
};

/** 0: success, 1: failure, 3: partial success. For wrong usage, whose status is 2, a command throws UsageError. */
export type ExitStatus = 0 | 1 | 3;

export interface CliCommand {
  readonly name: string;
  /** Other names of the command, such as those of graphile_worker_rs. */
  readonly aliases: readonly string[];
  /** One line of help. */
  readonly describe: string;
  /** The positional arguments, in the order in which they are typed; the keys are their names in the help. */
  readonly positionals: Values;
  /** The options by their keys. The key `runAt` is typed `--run-at`. */
  readonly options: Values;
  /** Shown below the options in the help. */
  readonly notes: string;
  /** Example command lines, at the end of the help. */
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

/** Returns the command, with defaults for the parts that are left out. `G`: the values of the global options. */
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
