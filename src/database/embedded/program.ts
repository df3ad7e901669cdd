// Starts and stops PostgreSQL's programs. Each program has a session of its own (setsid), which Ctrl-C in a terminal
// does not reach.

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { timeoutSignal, wait } from "../../base/clock.ts";
import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";
import type { Account } from "./account.ts";

// The user's environment (PGDATA, LC_*, LD_* and the like) must not affect the server.
const ENVIRONMENT = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
const LAST_LINES = 20;
const MAX_LINE_LENGTH = 2_000;

export function launch(
  program: string,
  args: readonly string[],
  options: { readonly account: Account; readonly cwd: string; readonly stdio: StdioOptions },
): ChildProcess {
  const { account, cwd, stdio } = options;
  return spawn(program, args, {
    cwd,
    stdio,
    env: ENVIRONMENT,
    detached: true,
    ...(account ?? {}),
  });
}

/**
 * Runs a program and returns the last lines of its output. Kills the program after `limitMs`, or when `signal` aborts.
 * Throws if the program cannot be started, fails or is killed.
 */
export async function run(
  program: string,
  args: readonly string[],
  options: {
    readonly account: Account;
    readonly cwd: string;
    readonly limitMs: number;
    readonly signal: AbortSignal;
  },
): Promise<string> {
  const stopped = () => new WorkerError("aborted", `${program} was stopped`);
  if (options.signal.aborted) throw stopped();
  const child = launch(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const end = AbortSignal.any([options.signal, timeoutSignal(options.limitMs)]);
  const output = lastLines(child);
  const kill = () => killGroup(child, "SIGKILL");
  end.addEventListener("abort", kill, { once: true });
  try {
    const [status] = await exitOf(program, child);
    if (options.signal.aborted) throw stopped();
    if (end.aborted) throw new Error(`${program} took longer than ${options.limitMs} ms`);
    if (status !== 0) throw new Error(`${program} failed: ${output()}`);
    return output();
  } finally {
    end.removeEventListener("abort", kill);
  }
}

/** Returns a function that returns the last lines of the output of `child`. `onLine` is called with every line. */
export function lastLines(child: ChildProcess, onLine?: (line: string) => void): () => string {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    let rest = "";
    const add = (part: string) => {
      const line = part.slice(0, MAX_LINE_LENGTH);
      lines.push(line);
      if (lines.length > LAST_LINES) lines.shift();
      onLine?.(line);
    };
    stream.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = (parts.pop() ?? "").slice(-MAX_LINE_LENGTH);
      for (const part of parts) add(part);
    });
    // The last line may end without a newline.
    stream.on("end", () => {
      if (rest !== "") add(rest);
    });
  }
  return () => lines.join("\n");
}

/** Resolves when the program has ended and all its output was read. Rejects if the program could not be started. */
export async function exitOf(
  program: string,
  child: ChildProcess,
): Promise<[number | null, NodeJS.Signals | null]> {
  try {
    return (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  } catch (cause) {
    const hint =
      codeOf(cause) === "EACCES"
        ? "its file system may forbid programs (noexec); set XDG_CACHE_HOME to a directory of another file system"
        : messageOf(cause);
    throw new WorkerError("embedded_server", `cannot start ${program}: ${hint}`, { cause });
  }
}

/** The process group includes the program's children. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

// The signals that stop a server (fast shutdown, immediate shutdown, kill), and how many milliseconds each may take.
const STOPPING: readonly (readonly [NodeJS.Signals, number])[] = [
  ["SIGINT", 30_000],
  ["SIGQUIT", 10_000],
  ["SIGKILL", 10_000],
];

/** Sends stronger and stronger signals until the server has ended. Resolves even if the last signal fails. */
export async function signalUntilGone(
  send: (signal: NodeJS.Signals) => void,
  isGoneWithin: (limitMs: number) => Promise<boolean>,
): Promise<void> {
  for (const [signal, limitMs] of STOPPING) {
    send(signal);
    if (await isGoneWithin(limitMs)) return;
  }
}

/** Whether `done` resolves within `limitMs`. */
export async function endsWithin(limitMs: number, done: Promise<void>): Promise<boolean> {
  const timer = new AbortController();
  const late = wait(limitMs, timer.signal).then(() => false);
  const isDone = await Promise.race([done.then(() => true), late]);
  timer.abort();
  return isDone;
}
