// Starts programs from a separate process, the starter process (program-starter.ts). A fork of the worker itself would
// block all jobs for milliseconds. If the worker crashes, the starter process ends the programs.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Logger } from "../../../base/logger.ts";
import { endGroup } from "../../../worker/files/process-group.ts";
import type { Program, ProgramOptions, ProgramResult } from "../../../worker/files/run-program.ts";
import { warnWithoutInit } from "../own/first-process.ts";
import { startOwnProcess } from "../own/own-process.ts";

/** A message to the starter process. */
export type StarterOrder =
  | { readonly id: number; readonly run: Program; readonly killAfterMs: number }
  | { readonly id: number; readonly stop: true };

/** A message from the starter process. */
export type StarterReport = { readonly id: number } & (
  | { readonly pid: number }
  | { readonly stream: "stdout" | "stderr"; readonly lines: readonly string[] }
  | { readonly end: ProgramResult }
  | { readonly problem: string }
);

interface RunningProgram {
  readonly options: ProgramOptions;
  /** The process id; null until the program has started. */
  pid: number | null;
  readonly ended: PromiseWithResolvers<ProgramResult>;
}

export class ProgramHost implements AsyncDisposable {
  readonly #logger: Logger;
  readonly #running = new Map<number, RunningProgram>();
  #starter: ChildProcess | null = null;
  #nextId = 1;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Like runProgram(), but does not call `onStart`, and also rejects if the starter process is lost. */
  readonly run = async (program: Program, options: ProgramOptions): Promise<ProgramResult> => {
    const { signal, killAfterMs } = options;
    const id = this.#nextId++;
    const ended = Promise.withResolvers<ProgramResult>();
    this.#running.set(id, { options, pid: null, ended });
    this.#send({ id, run: program, killAfterMs });
    const stop = () => this.#send({ id, stop: true });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    try {
      return await ended.promise;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#running.delete(id);
    }
  };

  /** Stops the running programs, and waits until the starter process has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    const starter = this.#starter;
    this.#starter = null;
    if (starter === null || starter.exitCode !== null || starter.signalCode !== null) return;
    starter.disconnect();
    await once(starter, "exit");
  }

  #send(order: StarterOrder): void {
    this.#starter ??= this.#start();
    // If send() fails, the listener of "close" handles the end of the starter process.
    this.#starter.send(order, () => {});
  }

  #start(): ChildProcess {
    warnWithoutInit(this.#logger);
    const starter = startOwnProcess({ be: "program-starter" }, programEnvironment());
    starter.on("message", (report: StarterReport) => this.#onReport(report));
    let error: string | undefined; // why the starter process could not be started
    starter.once("error", (reason) => {
      error = reason.message;
    });
    starter.once("close", (code, signal) => {
      if (this.#starter !== starter) return;
      this.#starter = null;
      this.#logger.error({ code, signal, error }, "the process that starts programs has ended");
      for (const program of this.#running.values()) void lose(program);
    });
    return starter;
  }

  #onReport(report: StarterReport): void {
    const running = this.#running.get(report.id);
    if (running === undefined) return;
    const { options, ended } = running;
    if ("pid" in report) running.pid = report.pid;
    else if ("lines" in report) void options.onLines(report.stream, report.lines);
    else if ("end" in report) ended.resolve(report.end);
    else ended.reject(new Error(report.problem));
  }
}

/** Ends a program whose starter process was lost, so that the program does not run beside the job's next attempt. */
async function lose({ pid, options, ended }: RunningProgram): Promise<void> {
  if (pid !== null) await endGroup(pid, options.killAfterMs);
  ended.reject(new Error("was lost: the process that starts programs has ended"));
}

/** Returns the environment of this process without the secrets of the admin. */
function programEnvironment(): NodeJS.ProcessEnv {
  const isSecret = (name: string) => /^WORKER_(ADMIN|RUN|DEMO)_.*(PASSWORD|TOKEN)/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSecret(name)));
}
