// worker completion: what a shell reads to complete commands and options.
import { type CliCommand, optionName, type Values } from "../../arguments/command.ts";
import { choice, required } from "../../arguments/values.ts";
import { printOwn } from "../../output/print.ts";
import { defineCommand, globalOptions } from "../../shell/globals.ts";
import { bash, type CompletionWords, fish, zsh } from "./completion-scripts.ts";

const scripts = { bash, zsh, fish };

/** `all`: every command, itself among them. */
export const completionCommand = (all: () => readonly CliCommand[]) =>
  defineCommand({
    name: "completion",
    describe: "Print what bash, zsh or fish reads to complete commands and options",
    words: { shell: required(choice("For which shell", ["bash", "zsh", "fish"])) },
    notes: `\
bash: eval "$(worker completion bash)"    in ~/.bashrc
zsh:  eval "$(worker completion zsh)"     in ~/.zshrc, behind compinit
fish: worker completion fish > ~/.config/fish/completions/worker.fish`,
    refuses: { databaseUrl: "it needs none", schema: "it needs none" },
    run: async ({ shell }) => {
      printOwn(scripts[shell](all().map(knownOf)));
      return undefined;
    },
  });

function knownOf({ name, describe, words, options }: CliCommand): CompletionWords {
  const first = Object.values(words)[0];
  return {
    name,
    describe,
    words: choicesOf(first?.form ?? null),
    options: [...optionsOf(options), ...optionsOf(globalOptions)],
  };
}

function optionsOf(options: Values): CompletionWords["options"] {
  return Object.entries(options).map(([key, value]) => ({
    // What is on unless it is denied is typed as it is denied.
    name:
      value.form === null && value.read([]) === true
        ? optionName(key).replace("--", "--no-")
        : optionName(key),
    describe: value.describe,
    takesValue: value.form !== null && value.bare !== true,
    isPath: PATHS.includes(value.form ?? ""),
    choices: choicesOf(value.form),
  }));
}

/** What options that name something on the disk are shown with. */
const PATHS: readonly string[] = ["path", "file", "dir"];

/** `a|b|c` */
function choicesOf(form: string | null): readonly string[] {
  return form?.includes("|") === true ? form.split("|") : [];
}
