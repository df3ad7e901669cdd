// Runs the command line from its sources, as a shell would, and gives what it printed.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const root = join(import.meta.dirname, "../..");
const LONGEST_RUN_MS = 30_000;

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The arguments that come before a command's own. */
export const command = [
  "--import",
  join(root, "test/support/register.mjs"),
  join(root, "src/main.ts"),
];

/** `env` replaces the environment but for PATH and HOME. */
export async function worker(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = "",
): Promise<Ran> {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, [...command, ...args], {
    env: { PATH, HOME, ...env },
    timeout: LONGEST_RUN_MS,
  });
  child.stdin.end(input);
  const status = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await status, stdout, stderr };
}
