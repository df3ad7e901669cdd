// Runs a program to its end, in its own process group. If the program is stopped, all processes of the group are ended.
// If the program exits by itself, other processes of the group continue.
//
//   running ──exits──▶ its exit code
//      └─`signal` aborts─▶ SIGTERM to the group ─ killAfterMs ─▶ SIGKILL ─▶ wait until the group is empty, at most 1 s
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { wait } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import { endGroup, endWithThisProcess } from "./process-group.ts";
import { Lines } from "./program-output.ts";

/** A program to run. */
export interface Program {
  /** The path of the executable file. */
  readonly file: string;
  /** Variables to add to the inherited environment; undefined removes a variable. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text for the program's stdin. */
  readonly input: string;
}

/** How a program ended. */
export interface ProgramResult {
  /** The exit code; null when a signal ended the program. */
  readonly code: number | null;
  /** The signal that ended the program; null if the program exited. */
  readonly signal: string | null;
}

/** Options for running a program. */
export interface ProgramOptions {
  /** When this signal aborts, the program is stopped, first with SIGTERM. */
  readonly signal: AbortSignal;
  /** The time between SIGTERM and SIGKILL, in milliseconds. */
  readonly killAfterMs: number;
  /** Called when the program has started. `pid` is also the id of the process group. */
  onStart?(pid: number): void;
  /** Called with lines of the program's output. The stream is read further when the returned promise resolves. */
  onLines(stream: "stdout" | "stderr", lines: readonly string[]): Promise<void> | void;
}

/** Runs a program. Rejects if the program cannot be started. */
export type RunProgram = (program: Program, options: ProgramOptions) => Promise<ProgramResult>;

/** These variables are removed, because they describe sockets of the worker. */
const NO_SOCKETS = { LISTEN_FDS: undefined, LISTEN_PID: undefined, LISTEN_FDNAMES: undefined };

/** How long the output is read after the program's end, if another process keeps the pipe open. */
const LAST_OUTPUT_MS = 500;

export const runProgram: RunProgram = async (program, options) => {
  const { signal, killAfterMs, onLines } = options;
  const { file, environment, input } = program;
  const env = { ...process.env, ...NO_SOCKETS, ...environment };
  // `detached` makes the program the leader of a new process group, whose id is the pid.
  const child = spawn(file, [], { detached: true, env, stdio: "pipe" });
  const { pid, stdin, stdout, stderr } = child;
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  if (pid === undefined) throw await startProblem(exited);
  options.onStart?.(pid);
  stdin.on("error", () => {}); // a program may ignore its input
  stdin.end(input);
  const out = passLines(stdout, (lines) => onLines("stdout", lines));
  const err = passLines(stderr, (lines) => onLines("stderr", lines));
  const over = new AbortController();
  const stopped = stopGroup(pid, signal, killAfterMs, over.signal);
  const ended = endWithThisProcess(pid);
  const [code, killer] = await exited;
  await waitForOutput(child, Promise.all([out, err]));
  if (signal.aborted) await stopped;
  over.abort();
  ended();
  return { code, signal: killer };
};

async function startProblem(exited: Promise<unknown>): Promise<Error> {
  const error = await exited.then(
    () => new Error("no process"),
    (reason: unknown) => reason,
  );
  const hint = hints[codeOf(error) ?? ""];
  const why = hint === undefined ? messageOf(error) : `${codeOf(error)}: ${hint}`;
  return new Error(`cannot be started (${why})`, { cause: error });
}

const hints: Readonly<Record<string, string>> = {
  ENOENT: "the file, or the interpreter in its first line, does not exist",
  EACCES: "permission to execute it is missing",
  ENOEXEC:
    "it is not a program for this machine; a script must begin with a line such as #!/bin/sh",
  EAGAIN: "the limit of processes is reached",
};

async function passLines(
  stream: Readable,
  onLines: (lines: readonly string[]) => Promise<void> | void,
): Promise<void> {
  const lines = new Lines();
  try {
    for await (const piece of stream) {
      const whole = lines.add(piece as Buffer);
      if (whole.length > 0) await onLines(whole);
    }
  } catch {
    // waitForOutput() has destroyed the stream.
  }
  const last = lines.end();
  if (last.length > 0) await onLines(last);
}

async function waitForOutput(child: ChildProcess, output: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const over = () => done.abort();
  void output.then(over, over);
  if (await wait(LAST_OUTPUT_MS, done.signal)) {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
  await output;
}

/** Ends the process group when `signal` aborts, unless `over` aborts first. */
async function stopGroup(
  pid: number,
  signal: AbortSignal,
  killAfterMs: number,
  over: AbortSignal,
): Promise<void> {
  if (!signal.aborted) await once(signal, "abort", { signal: over }).catch(() => {});
  if (over.aborted) return;
  await endGroup(pid, killAfterMs);
}
