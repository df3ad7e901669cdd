// What a command is: its words, its options, and what it does. Help, parsing and the names in error
// messages all follow from this one record.
import type { OptionValue } from "./values.ts";

// biome-ignore lint/suspicious/noExplicitAny: the values of a table have different types
export type Values = Readonly<Record<string, OptionValue<any>>>;

/** What the user gave for each of the values. */
export type Given<V extends Values> = {
  readonly [K in keyof V]: V[K] extends OptionValue<infer T> ? T : never;
};

/** 0 done, 1 failed, 3 partly done; 2 (used wrongly) is for the parser alone. */
export type ExitStatus = 0 | 1 | 3;

export interface CliCommand {
  readonly name: string;
  /** Other names under which it is known, such as those of graphile_worker_rs. */
  readonly aliases: readonly string[];
  /** One line of help. */
  readonly describe: string;
  /** In the order in which they are typed; the keys are what the help calls them. */
  readonly words: Values;
  /** `runAt` is typed `--run-at`. */
  readonly options: Values;
  /** Stands below the options in the help. */
  readonly notes: string;
  /** Lines as they are typed, at the end of the help. */
  readonly examples: readonly string[];
  /** It takes something away: never suggested for a mistyped word. */
  readonly destroys: boolean;
  /** A global option that it does not take, and why. */
  readonly refuses: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: command() has checked that they fit together
  readonly run: (given: any) => Promise<ExitStatus>;
}

/** A command as it is written down; `run` may give nothing, which is 0. */
export interface CommandParts<W extends Values, O extends Values, G> {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly describe: string;
  readonly words?: W;
  readonly options?: O;
  readonly notes?: string;
  readonly examples?: readonly string[];
  readonly destroys?: boolean;
  readonly refuses?: Readonly<Record<string, string>>;
  readonly run: (given: G & Given<W> & Given<O>) => Promise<ExitStatus | undefined>;
}

/** `G`: what the global options give. */
export function makeCommand<W extends Values, O extends Values, G>(
  parts: CommandParts<W, O, G>,
): CliCommand {
  return {
    aliases: [],
    words: {},
    options: {},
    notes: "",
    examples: [],
    destroys: false,
    refuses: {},
    ...parts,
    run: async (given) => (await parts.run(given)) ?? 0,
  };
}

/** `runAt`, `run_at` → `--run-at` */
export function optionName(key: string): string {
  return `--${key.replaceAll("_", "-").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
