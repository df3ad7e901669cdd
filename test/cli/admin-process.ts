// Starts `worker admin` as a process, for tests of what it prints at its start, what it logs, and how it ends.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { command, runner } from "./command.ts";

/** The URL of a database whose server does not exist. The admin starts and serves nevertheless. */
export const NOWHERE = "postgres://nobody@127.0.0.1:1/none";
const LIMIT_MS = 30_000;
const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** A line of the admin's log, which is JSON on stderr. */
export interface LogLine {
  readonly level: number;
  readonly code?: string;
  readonly msg: string;
  readonly error?: string;
  readonly client?: string;
}

export interface AdminProcess {
  readonly pid: number;
  /** The JSON that the admin prints to stdout when it begins to serve. */
  readonly announced: { readonly url: string; readonly [field: string]: unknown };
  send(signal: NodeJS.Signals): void;
  /** Resolves when the messages of at least `times` lines of the whole log contain this text. Rejects after 30 s. */
  logged(text: string, times?: number): Promise<void>;
  /** Sends SIGTERM, waits until the process has ended, and returns its log. */
  stop(): Promise<readonly LogLine[]>;
  readonly status: Promise<number | null>;
}

export interface AdminProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** A command and its arguments. The command line of the admin is appended to them. */
  readonly prefix?: readonly string[];
}

/** Starts `worker admin` and waits until it serves. DATABASE_URL is NOWHERE unless `env` sets it. */
export async function startAdmin(
  args: readonly string[],
  { env = {}, prefix = [] }: AdminProcessOptions = {},
): Promise<AdminProcess> {
  const { PATH = "", HOME = "" } = process.env;
  const [first = "", ...words] = [...prefix, runner, ...command];
  const child = spawn(first, [...words, "admin", "--json", ...args], {
    env: { PATH, HOME, DATABASE_URL: NOWHERE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const status = once(child, "close").then(([code]) => code as number | null);
  const lines: LogLine[] = [];
  const waiting = new Set<() => void>();
  let output = "";
  createInterface(child.stderr).on("line", (line) => {
    output += `${line}\n`;
    if (line.startsWith("{")) lines.push(JSON.parse(line) as LogLine);
    for (const look of waiting) look();
  });
  const announcement = once(createInterface(child.stdout), "line");
  const [line] = await Promise.race([
    announcement,
    status.then(() =>
      Promise.reject(new Error(`the admin ended before its server listened:\n${output}`)),
    ),
  ]);
  return {
    pid: child.pid ?? 0,
    announced: JSON.parse(line),
    status,
    send: (signal) => void child.kill(signal),
    logged(text, times = 1) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const look = () => {
        if (lines.filter(({ msg }) => msg.includes(text)).length >= times) resolve();
      };
      const late = setTimeout(() => reject(new Error(`not logged: ${text}\n${output}`)), LIMIT_MS);
      waiting.add(look);
      look();
      return promise.finally(() => {
        waiting.delete(look);
        clearTimeout(late);
      });
    },
    async stop() {
      child.kill();
      await status;
      running.delete(child);
      return lines;
    },
  };
}
