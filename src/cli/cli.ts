// The command line: finds the command, runs it, and turns every failure into a message on stderr and an exit status:
// 0 success, 1 failure, 2 wrong usage, 3 partial success, 128 + n for signal n.
import { VERSION } from "../base/version.ts";
import { isTruth } from "./arguments/environment.ts";
import { UsageError } from "./arguments/refusals.ts";
import { print, printFailure, printOwn, watchOutput } from "./output/print.ts";
import { OWN_PROCESS } from "./run/own/own-word.ts";
import { inTypedNames, reportFailure } from "./shell/failure.ts";
import { program } from "./shell/globals.ts";
import { StoppedError } from "./shell/signals.ts";

/** Runs one command line and returns the exit status. */
export async function runCli(argv: readonly string[]): Promise<number> {
  watchOutput();
  // `worker run` has started this process for a part of its work (run/own/).
  if (argv[0] === OWN_PROCESS && process.send !== undefined) {
    return (await import("./run/own-process-main.ts")).serveParent();
  }
  try {
    return await runCommand(argv);
  } catch (error) {
    reportFailure(error, { verbose: isOn(argv, "verbose"), json: isOn(argv, "json") });
    if (error instanceof StoppedError) return error.status;
    return error instanceof UsageError ? 2 : 1;
  }
}

async function runCommand(argv: readonly string[]): Promise<number> {
  // The fast path for --version: no further module is loaded.
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) return showVersion();
  const { commands } = await import("./commands/index.ts");
  const { helpFor, typedIn } = await import("./arguments/command-line.ts");
  const { givenIn } = await import("./arguments/given.ts");
  const { sameQueue } = await import("./shell/same-queue.ts");
  const showHelp = async (words: readonly string[]) => {
    printOwn(await helpFor(words, program, commands));
    return 0;
  };
  if (argv[0] === "help") return showHelp(argv.slice(1));
  if (wantsHelp(argv)) return showHelp(argv);
  const typed = typedIn(argv, program, commands);
  const values = givenIn(typed, program.options, process.env);
  const { given } = values;
  if (given["help"] === true) return showHelp(argv);
  if (given["version"] === true) return showVersion();
  const suggest = sameQueue(given, values.whereOf);
  try {
    return await typed.command.run({ ...given, suggest });
  } catch (error) {
    throw inTypedNames(error, typed.command, values, suggest);
  } finally {
    if (suggest.note !== null && given["json"] !== true) printFailure(suggest.note);
  }
}

/** Whether help is requested. It is shown even if options or values are wrong, but not for an unknown command. */
const wantsHelp = (argv: readonly string[]) =>
  beforeDashes(argv).some((word) => word === "--help" || word === "-h");

/** Whether a global flag is typed, or set in the environment. The result is right even if other arguments are wrong. */
function isOn(argv: readonly string[], name: "json" | "verbose"): boolean {
  const words = beforeDashes(argv);
  if (words.includes(`--${name}`)) return true;
  const set = process.env[`WORKER_${name.toUpperCase()}`] ?? "";
  return !words.includes(`--no-${name}`) && isTruth(set);
}

function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return argv.slice(0, end < 0 ? undefined : end);
}

function showVersion(): number {
  print(VERSION);
  return 0;
}
