// Runs the loop of heartbeats in a thread of its own or, if that is not possible, in the worker's thread.
import { Worker as Thread } from "node:worker_threads";
import type pg from "pg";
import { wait } from "../../base/clock.ts";
import { errorOf, messageOf, WorkerError } from "../../base/errors.ts";
import type { PortableConnection } from "../connection/connection-config.ts";
import {
  type HeartbeatCommand,
  HeartbeatLoop,
  type HeartbeatReport,
  type HeartbeatSettings,
} from "./heartbeat-loop.ts";
import type { HeartbeatThreadData } from "./heartbeat-thread.ts";

export interface HeartbeatHost {
  send(command: Exclude<HeartbeatCommand, { command: "password" | "stop" }>): void;
  /** Resolves within `limitMs`, even if the database does not answer. */
  stop(limitMs: number): Promise<void>;
  /** Ends the wait of a running or later stop(). */
  cut(): void;
}

type Report = (report: HeartbeatReport) => void;

// The thread needs only a few MB of heap.
const LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4, stackSizeMb: 2 };

/** Sends heartbeats from this thread. While a handler blocks the thread, no heartbeat is sent. */
export function beatHere(settings: HeartbeatSettings, report: Report): HeartbeatHost {
  const loop = new HeartbeatLoop(settings, report);
  const running = loop.run();
  const over = new AbortController();
  return {
    send: (command) => loop.take(command),
    stop: (limitMs) => waitAtMost(limitMs, loop.stop(running), over),
    cut: () => over.abort(),
  };
}

/**
 * Sends heartbeats from a thread of its own. `onEnd` is called if the thread ends before stop() is called. Before a
 * call of stop(), the thread does not keep the process alive.
 */
export async function beatInThread(
  settings: Omit<HeartbeatSettings, "connection">,
  { config, needsPassword }: PortableConnection,
  password: pg.ClientConfig["password"],
  report: Report,
  onEnd: (error: Error) => void,
): Promise<HeartbeatHost> {
  const workerData: HeartbeatThreadData = { ...settings, connection: config, needsPassword };
  const thread = await startThread(workerData);
  const send = (command: HeartbeatCommand): void => thread.postMessage(command);
  let isStopping = false;
  const ended = new Promise<void>((resolve) => {
    thread.once("exit", (code) => {
      if (!isStopping) onEnd(new WorkerError("aborted", `the thread ended with code ${code}`));
      resolve();
    });
  });
  thread.on("error", (error) => {
    if (isStopping) return;
    isStopping = true;
    onEnd(errorOf(error));
  });
  thread.on("message", (message: HeartbeatReport) => {
    if (message.report !== "password") return report(message);
    void passwordText(password).then(
      (text) => send({ command: "password", password: text }),
      (error: unknown) => report({ report: "failed", error: messageOf(error) }),
    );
  });
  thread.unref();
  const over = new AbortController();
  return {
    send,
    async stop(limitMs) {
      isStopping = true;
      send({ command: "stop" });
      thread.ref();
      await waitAtMost(limitMs, ended, over);
      await thread.terminate();
    },
    cut: () => over.abort(),
  };
}

async function passwordText(password: pg.ClientConfig["password"]): Promise<string> {
  return typeof password === "function" ? await password() : (password ?? "");
}

// Options of the application's Node, such as preloaded modules, must not apply to the thread. A thread reads
// NODE_OPTIONS even in the executable, whose main thread ignores this variable.
async function startThread(workerData: HeartbeatThreadData): Promise<Thread> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const own = { execArgv: [], env, resourceLimits: LIMITS, name: "worker heartbeat" };
  const options = { workerData, ...own };
  // `import.meta.url` is undefined in a CommonJS bundle.
  const here: string | undefined = import.meta.url;
  if (here?.endsWith(".ts")) return new Thread(new URL("./heartbeat-thread.ts", here), options);
  const { default: text } = await import("../../../dist/heartbeat-thread.json", {
    with: { type: "json" },
  });
  return new Thread(text, { ...options, eval: true });
}

/** Waits at most `limitMs`, or until `over` aborts. */
async function waitAtMost(
  limitMs: number,
  work: Promise<void>,
  over: AbortController,
): Promise<void> {
  await Promise.race([work, wait(limitMs, over.signal)]);
  over.abort(); // clears the timer
}
