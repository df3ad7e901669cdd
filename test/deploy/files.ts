// Reads the files of deploy/, and runs the programs that check them.
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { promisify } from "node:util";

export const root = join(import.meta.dirname, "../..");

export const readDeployed = (path: string) => readFileSync(join(root, "deploy", path), "utf8");

/** Returns the reason to skip a test; false if the program is installed. */
export function unlessInstalled(program: string): string | false {
  const isThere =
    spawnSync("sh", ["-c", `command -v ${program}`], { env: environment() }).status === 0;
  return isThere ? false : `${program} is not installed`;
}

/** Returns the environment of the checks. PATH also has the directories of programs for root. */
function environment(): Record<string, string> {
  return { PATH: `${process.env["PATH"]}:/usr/sbin:/sbin`, HOME: tmpdir() };
}

/** Runs a check. Returns its stdout and stderr. Rejects with both in the error if the check fails or takes a minute. */
export async function check(program: string, ...args: string[]): Promise<string> {
  const options = { env: environment(), timeout: 60_000 };
  const { stdout, stderr } = await promisify(execFile)(program, args, options);
  return stdout + stderr;
}

/** Creates a temporary directory, and deletes it after the tests of the file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "wk-deploy-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns the seconds of a span such as `30s`, `5min`, `1h` or `90`; 0 for other texts. */
export function secondsOf(span: string): number {
  const [, count = "", unit = "s"] = /^(\d+)(s|min|h)?$/.exec(span) ?? [];
  return Number(count) * ({ s: 1, min: 60, h: 3_600 }[unit] ?? Number.NaN);
}
