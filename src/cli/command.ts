// The shape of a command file: yargs' own, but typed by the arguments that its handler reads
// (yargs types `--run-at` only under its dashed name, and gives it under both).
import type { Argv } from "yargs";
import type { GlobalArguments } from "./connection.ts";

export interface Command<Arguments extends GlobalArguments = GlobalArguments> {
  /** Name and positionals, in yargs' notation. */
  readonly command: string;
  readonly describe: string;
  readonly builder?: (yargs: Argv<GlobalArguments>) => unknown;
  readonly handler: (args: Arguments) => Promise<void>;
}
