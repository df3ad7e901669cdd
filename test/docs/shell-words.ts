// Finds the calls of our program, `worker`, in shell texts, and checks the arguments of these calls.
import { typedIn } from "../../src/cli/arguments/command-line.ts";
import { givenIn } from "../../src/cli/arguments/given.ts";
import { UsageError } from "../../src/cli/arguments/refusals.ts";
import { commands } from "../../src/cli/commands/index.ts";
import { manualOf } from "../../src/cli/commands/program/manual.ts";
import { program } from "../../src/cli/shell/globals.ts";

/**
 * Matches words that name our program, or an image with our program, at any place of a command: `dist/worker`,
 * `ExecStart=/bin/worker`, `worker:0.1.0`.
 */
const OURS = /[/=]worker$|^worker:[\w.-]+$/;
/** Matches words that may precede the plain name `worker`: `NAME=value`, or a program that runs another program. */
const BEFORE = /^(\w+=.*|sudo|npx|exec|env|time)$/s;

/** Returns the arguments of every call of our program in `text`. */
export function callsIn(text: string): string[][] {
  return simpleCommands(text).flatMap((words) => {
    const first = words.findIndex((word) => !BEFORE.test(word));
    const at = words.findIndex((word, index) => {
      const isName = /^(-|[a-z][a-z-]*$)/.test(words[index + 1] ?? "");
      return isName && (OURS.test(word) || (word === "worker" && index === first));
    });
    return at < 0 ? [] : [words.slice(at + 1)];
  });
}

/** All options of the program and of its commands, as the manual spells them. */
export const knownOptions: ReadonlySet<string> = new Set(
  manualOf(program, commands)
    .commands.flatMap(({ options }) => options)
    .concat(manualOf(program, commands).options)
    .flatMap(({ names }) => names),
);

/**
 * Returns why the program would refuse the arguments; null if it would not. `inText`: the call is in a sentence, so
 * words may be missing, and values may be placeholders.
 */
export function refusalOf(args: readonly string[], inText = false): string | null {
  try {
    givenIn(typedIn(args, program, commands), program.options, {});
    return null;
  } catch (error) {
    const { message } = error as Error;
    const isIncomplete = /is missing|needs a value/.test(message) || !(error instanceof UsageError);
    return inText && isIncomplete ? null : message;
  }
}

/** Splits a text into commands, and each command into its words, without quotes. Drops comments and redirections. */
function simpleCommands(text: string): string[][] {
  const found: string[][] = [[]];
  const pattern =
    /\\\n|(#[^\n]*)|([|;&\n()]+)|(\d?[<>]+&?\s*[^\s|;&]*)|((?:'[^']*'|"(?:\\.|[^"])*"|\\.|[^\s|;&<>()'"\\])+)/g;
  for (const [, , end, , word] of text.matchAll(pattern)) {
    if (end !== undefined) found.push([]);
    else if (word !== undefined) found.at(-1)?.push(unquoted(word));
  }
  return found;
}

function unquoted(word: string): string {
  const parts = /'([^']*)'|"((?:\\.|[^"])*)"|\\(.)/g;
  return word.replaceAll(parts, (_, single, double, one) => single ?? double ?? one);
}
