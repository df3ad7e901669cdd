// Helpers for tests of `worker run`: they create directories with the files of tasks, and start the command.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { command, runner } from "./command.ts";

const LIMIT_MS = 30_000;
const running = new Set<ChildProcess>();
const directories: string[] = [];
after(() => {
  for (const child of running) child.kill("SIGKILL");
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/**
 * Creates a temporary directory and returns its path. `files`: the text of each file, by its path in the directory. A
 * file whose text begins with `#!` is executable. The directory is deleted when the tests end.
 */
export function filesOf(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), "worker-run-"));
  directories.push(directory);
  chmodSync(directory, 0o755);
  for (const [name, text] of Object.entries(files)) putFile(directory, name, text);
  return directory;
}

export function putFile(directory: string, name: string, text: string): void {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
}

/** A line of JSON on stderr. */
export interface LogLine {
  readonly msg: string;
  readonly pid: number;
  readonly [field: string]: unknown;
}

export interface RunProcess {
  readonly pid: number;
  /**
   * Resolves to the first line of the log whose `msg` contains the text `what`, or for which the function `what`
   * returns true. `after`: the number of lines to skip, such as an earlier `count`; default 0. Rejects if no such
   * line was logged within 30 s, or before the process has ended.
   */
  logged(what: string | ((line: LogLine) => boolean), after?: number): Promise<LogLine>;
  /** The number of lines of the log so far. */
  readonly count: number;
  readonly stdout: string;
  send(signal: NodeJS.Signals): void;
  readonly ended: Promise<{ status: number | null; stdout: string; stderr: string }>;
}

/**
 * Starts `worker run` with `args`. `words`: the program, and the arguments that come before `run`. Default: `runner`
 * and `command` of command.ts.
 */
export function startRun(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  words: readonly string[] = [runner, ...command],
): RunProcess {
  const [file = "", ...own] = words;
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(file, [...own, "run", ...args], {
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const lines: LogLine[] = [];
  const waiting = new Set<() => void>();
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  createInterface(child.stderr).on("line", (line) => {
    stderr += `${line}\n`;
    if (line.startsWith("{")) lines.push(JSON.parse(line) as LogLine);
    for (const look of waiting) look();
  });
  const ended = new Promise<{ status: number | null; stdout: string; stderr: string }>(
    (resolve) => {
      child.once("close", (status) => {
        running.delete(child);
        resolve({ status, stdout, stderr });
      });
    },
  );
  return {
    pid: child.pid ?? 0,
    ended,
    get count() {
      return lines.length;
    },
    get stdout() {
      return stdout;
    },
    send: (signal) => void child.kill(signal),
    logged(what, from = 0) {
      const isIt = typeof what === "string" ? ({ msg }: LogLine) => msg.includes(what) : what;
      const { promise, resolve, reject } = Promise.withResolvers<LogLine>();
      const look = () => {
        const found = lines.slice(from).find(isIt);
        if (found !== undefined) resolve(found);
      };
      const late = setTimeout(() => reject(new Error(`not logged: ${what}\n${stderr}`)), LIMIT_MS);
      void ended.then(() => reject(new Error(`ended before "${what}":\n${stderr}`)));
      waiting.add(look);
      look();
      return promise.finally(() => {
        waiting.delete(look);
        clearTimeout(late);
      });
    },
  };
}
