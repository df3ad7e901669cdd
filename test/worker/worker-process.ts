// Runs a worker in another process, so that a test can kill or freeze it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach } from "node:test";
import { fileURLToPath } from "node:url";
import { wait } from "../../src/base/clock.ts";
import type { WorkerOptions } from "../../src/worker/options/worker-options.ts";
import { MAX_WAIT_MS, type ProcessEvents, processEvents } from "../support/event-process.ts";

export interface WorkerProcess extends ProcessEvents {
  readonly pid: number;
  readonly workerId: string;
  /** Ends the jobs that wait for this call, such as those of the task `held`. */
  release(): void;
  /** Ends the jobs that wait for release(), and stops the worker. Resolves when the process has ended. */
  stop(): Promise<void>;
  signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void;
  readonly exited: Promise<void>;
}

/** The log of a process with the tasks of workload.ts. */
export interface WorkloadLog {
  /** The path of the log. */
  readonly log: string;
  /** The name of the process in the log. */
  readonly by: string;
}

/** Options of recovery with short leases. On a busy machine these leases are too short for some tests. */
export const QUICK = {
  heartbeatIntervalMs: 100,
  thresholdMs: 1_000,
  resilientThresholdMs: 2_500,
} as const;

const NEVER = new AbortController().signal;

// A failed test must not leave workers for the next test.
const running = new Set<ChildProcess>();
afterEach(async () => {
  const left = [...running].map((child) => once(child, "exit"));
  for (const child of running) child.kill("SIGKILL");
  await Promise.all(left);
});

const fileHere = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const register = fileURLToPath(new URL("../support/register.mjs", import.meta.url));

/** Starts a process with a worker. Resolves when the worker has started. `main`: the file that the process runs. */
export async function workerProcess(
  connectionString: string,
  options: Partial<WorkerOptions> & { readonly workload?: WorkloadLog } = {},
  main = "./recovery-child.ts",
): Promise<WorkerProcess> {
  const all = { connectionString, recovery: QUICK, concurrency: 2, ...options };
  const child = spawn(
    process.execPath,
    ["--import", register, fileHere(main), JSON.stringify(all)],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  running.add(child);
  const exited = once(child, "exit").then(() => {
    running.delete(child);
  });
  const { events, event } = processEvents(child);
  const { workerId } = await event("ready");
  return {
    pid: child.pid ?? 0,
    workerId: String(workerId),
    events,
    event,
    release: () => child.stdin.write("release\n"),
    async stop() {
      child.stdin.end();
      await exited;
    },
    signal: (name) => child.kill(name),
    exited,
  };
}

/** Polls until the condition is true. Rejects with `what` after MAX_WAIT_MS. */
export async function waitUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const over = performance.now() + MAX_WAIT_MS;
  while (!(await isSo())) {
    if (performance.now() > over) throw new Error(`timed out: ${what}`);
    await wait(10, NEVER);
  }
}
