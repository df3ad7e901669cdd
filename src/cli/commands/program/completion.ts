// worker completion: prints a shell's completion script.
import { type CliCommand, optionName, type Values } from "../../arguments/command.ts";
import { choice, required } from "../../arguments/values.ts";
import { printOwn } from "../../output/print.ts";
import { defineCommand, globalOptions } from "../../shell/globals.ts";
import { bash, type CompletionWords, fish, zsh } from "./completion-scripts.ts";

const scripts = { bash, zsh, fish };

/** `all`: returns every command, including `completion`. */
export const completionCommand = (all: () => readonly CliCommand[]) =>
  defineCommand({
    name: "completion",
    describe: "Print the completion script for bash, zsh or fish",
    positionals: { shell: required(choice("Shell", ["bash", "zsh", "fish"])) },
    notes: `\
  bash: eval "$(worker completion bash)"    in ~/.bashrc
  zsh:  eval "$(worker completion zsh)"     in ~/.zshrc, after compinit
  fish: worker completion fish > ~/.config/fish/completions/worker.fish`,
    unsupported: { databaseUrl: "it needs no database", schema: "it needs no database" },
    run: async ({ shell }) => {
      printOwn(scripts[shell](all().map(wordsOf)));
      return undefined;
    },
  });

function wordsOf({ name, describe, positionals, options }: CliCommand): CompletionWords {
  const first = Object.values(positionals)[0];
  return {
    name,
    describe,
    words: first?.choices ?? [],
    options: [...optionsOf(options), ...optionsOf(globalOptions)],
  };
}

function optionsOf(options: Values): CompletionWords["options"] {
  return Object.entries(options).map(([key, value]) => ({
    // A flag that is on by default is completed in its negated form.
    name:
      value.form === null && value.read([]) === true
        ? optionName(key).replace("--", "--no-")
        : optionName(key),
    describe: value.describe,
    takesValue: value.form !== null && value.bare !== true,
    isPath: PATHS.includes(value.form ?? ""),
    choices: value.choices ?? [],
  }));
}

/** Placeholders of options that take a path. */
const PATHS: readonly string[] = ["path", "file", "dir"];
