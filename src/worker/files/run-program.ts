// Runs one program to its end, in a process group of its own: whatever it has started ends with it
// where it is stopped.
//
//   running ──ends by itself──▶ its exit code; what it has left running goes on without our pipes
//      └─signal─▶ SIGTERM to the group ─ killAfterMs ─▶ SIGKILL ─▶ ended when nobody is left in it
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { wait } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import { endGroup, endWithThisProcess } from "./process-group.ts";
import { Lines, Tail } from "./program-output.ts";

/** A program that is to run. */
export interface Program {
  readonly file: string;
  /** Beside the environment of this process; undefined takes a variable away. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What it reads. */
  readonly input: string;
}

/** How a program has ended. */
export interface ProgramEnd {
  readonly code: number | null;
  /** What has killed it. */
  readonly signal: string | null;
  /** The end of what it has written to its stderr. */
  readonly errors: string;
}

/** How it is run. */
export interface ProgramOptions {
  /** Stops it. */
  readonly signal: AbortSignal;
  /** Between SIGTERM and SIGKILL. */
  readonly killAfterMs: number;
  /** It runs, as the first of a process group with this number. */
  onStart?(pid: number): void;
  /** The program writes no further before this resolves. */
  onLines(stream: "stdout" | "stderr", lines: readonly string[]): Promise<void> | void;
}

/** Something that runs programs. Rejects when one cannot be started. */
export type RunProgram = (program: Program, options: ProgramOptions) => Promise<ProgramEnd>;

/** The sockets that a service manager has opened are the worker's, not the program's. */
const NO_SOCKETS = { LISTEN_FDS: undefined, LISTEN_PID: undefined, LISTEN_FDNAMES: undefined };

/** For what was written before the end, where somebody else keeps the pipe open. */
const LAST_OUTPUT_MS = 500;

export const runProgram: RunProgram = async (program, options) => {
  const { signal, killAfterMs, onLines } = options;
  const { file, environment, input } = program;
  const env = { ...process.env, ...NO_SOCKETS, ...environment };
  // A new session: the group has the process's own number.
  const child = spawn(file, [], { detached: true, env, stdio: "pipe" });
  const { pid, stdin, stdout, stderr } = child;
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  if (pid === undefined) throw await startProblem(exited);
  options.onStart?.(pid);
  stdin.on("error", () => {}); // it need not read what it is given
  stdin.end(input);
  const tail = new Tail();
  const out = passed(stdout, (lines) => onLines("stdout", lines));
  const err = passed(stderr, (lines) => {
    tail.add(lines);
    return onLines("stderr", lines);
  });
  const over = new AbortController();
  const stopped = stopGroup(pid, signal, killAfterMs, over.signal);
  const ended = endWithThisProcess(pid);
  const [code, killer] = await exited;
  await drained(child, Promise.all([out, err]));
  if (signal.aborted) await stopped;
  over.abort();
  ended();
  return { code, signal: killer, errors: tail.text };
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
  ENOENT: "it, or the program that its first line names, is not there",
  EACCES: "it may not be executed",
  ENOEXEC: "it is no program of this machine; a script begins with a line such as #!/bin/sh",
  EAGAIN: "no more processes are allowed",
};

/** Resolves at the stream's end. One piece at a time: who takes long is waited for. */
async function passed(
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
    // Destroyed below: what came before counts.
  }
  const last = lines.end();
  if (last.length > 0) await onLines(last);
}

/** What was written before the end is read; a process that was left running may hold the pipes for ever. */
async function drained(child: ChildProcess, output: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  void output.then(() => done.abort());
  if (await wait(LAST_OUTPUT_MS, done.signal)) {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
  await output;
}

/** Resolves when nobody is left in the group, once `signal` has aborted; and when it is `over`. */
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
