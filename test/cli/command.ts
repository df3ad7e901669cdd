// Runs command lines and returns their output. If the executable was built from the present sources (test/run.mjs sets
// TEST_COMMAND), worker() runs the executable. If not, worker() runs the sources, whose start takes five times the
// processor time.
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after } from "node:test";
import type { Order } from "./command-child.ts";

const root = join(import.meta.dirname, "../..");
const MAX_RUN_MS = 30_000;

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Node's arguments for running TypeScript. */
export const typescript = ["--import", join(root, "test/support/register.mjs")];

/** Node's arguments that run the command line from its sources. */
export const sources = [...typescript, join(root, "src/main.ts")];

const { TEST_COMMAND: built } = process.env;

/** `runner`: the program that runs a command line. `command`: its arguments before those of the command line. */
export const [runner = "", ...command] =
  built === undefined ? [process.execPath, ...sources] : [built];

/**
 * Runs a command line in a new process, which is killed after 30 s. `env` replaces the environment, except for PATH and
 * HOME. `input`: the text on stdin.
 */
export async function worker(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = "",
): Promise<CommandResult> {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(runner, [...command, ...args], {
    env: { PATH, HOME, ...env },
    timeout: MAX_RUN_MS,
  });
  child.stdin.end(input);
  const status = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await status, stdout, stderr };
}

let child: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();
after(() => child?.kill());

/**
 * Runs a command line like worker(), but always from the sources, and in one process that runs all command lines of the
 * test file, one after another. The command may neither read stdin nor write log lines.
 */
export function runInChild(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const run = async (): Promise<CommandResult> => {
    child ??= fork(join(import.meta.dirname, "command-child.ts"), {
      execArgv: typescript,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    child.send({ args, env } satisfies Order);
    const [ran] = await once(child, "message");
    return ran as CommandResult;
  };
  const next = last.then(run);
  last = next.catch(() => {});
  return next;
}
