// Runs an embedded server in another process, so that a test can kill that process.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import type { EmbeddedServerOptions } from "../../src/database/embedded/server.ts";

export interface Outcome {
  readonly event: "loaded" | "started" | "stopped" | "failed";
  readonly url?: string;
  readonly version?: string;
  readonly code?: string;
  readonly message?: string;
}

export interface ServerProcess {
  readonly pid: number;
  /** Starts the server and returns the result. */
  start(): Promise<Outcome>;
  /** Stops the server normally. Resolves when the process has ended. */
  stop(): Promise<Outcome>;
  /** Kills the process with SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
}

export type ServerProcessOptions = EmbeddedServerOptions & {
  /** The id of the user as which the process runs once its modules are loaded. Default: the user of the test. */
  readonly uid?: number;
  readonly env?: Readonly<Record<string, string>>;
};

// A failed test does not stop its process. So the process is killed here: while it runs, the test file cannot end.
const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a process, without the server. Resolves when the process has loaded all modules. */
export async function serverProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const { env, ...rest } = options;
  const main = join(import.meta.dirname, "server-main.ts");
  const child = spawn(process.execPath, [main, JSON.stringify(rest)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Outcome> => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the server's process ended without output");
    return JSON.parse(value) as Outcome;
  };
  running.add(child);
  const exited = once(child, "exit").then(() => running.delete(child));
  await next();
  return {
    pid: pidOf(child),
    async start() {
      child.stdin.write("start\n");
      return next();
    },
    async stop() {
      child.stdin.end();
      const outcome = await next();
      await exited;
      return outcome;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error("the server's process did not start");
  return child.pid;
}
