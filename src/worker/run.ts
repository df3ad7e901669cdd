// The two ways to run a worker: until it is stopped, or until the queue is drained.
import { setInterval } from "../base/clock.ts";
import type { WorkerOptions } from "./options/worker-options.ts";
import type { Hooks } from "./task/hooks.ts";
import { Worker } from "./worker.ts";

/** The options of a worker, and who may stop it. */
export interface RunOptions<Extensions = unknown> extends WorkerOptions<Extensions> {
  /** Stops gracefully when it aborts. */
  readonly signal?: AbortSignal;
  /**
   * Stop gracefully on SIGTERM and SIGINT: within `stopTimeoutMs` and `abortGraceMs`. A second one
   * aborts at once. Where jobs had to be given up and keep the process alive, it is ended by the same
   * signal; so is a process that something else keeps alive, such as an HTTP server, 10 s after its worker has
   * stopped (`worker.stopped` resolves when to close it), unless it listens for the signal itself. Default true for
   * run(), false for runOnce().
   */
  readonly handleSignals?: boolean;
}

/**
 * Starts a worker that runs until it is stopped. Resolves once jobs are taken. Rejects with InputError
 * for wrong options, or as Worker.start() does.
 */
export async function run<E>(options: RunOptions<E>): Promise<Worker<E>> {
  const { signal, handleSignals = true, ...rest } = options;
  const worker = new Worker<E>(rest);
  if (handleSignals) stopOnSignals(worker);
  const stop = () => void worker.stop("signal");
  if (signal?.aborted) stop();
  else signal?.addEventListener("abort", stop, { once: true });
  void worker.stopped.then(() => signal?.removeEventListener("abort", stop));
  await worker.start();
  return worker;
}

/** What draining a queue came to. */
export interface DrainResult {
  readonly completed: number;
  /** Attempts that failed, whether or not they will be tried again. */
  readonly failed: number;
  /** Jobs that an interceptor skipped. */
  readonly skipped: number;
}

/**
 * Drains the queue and stops: runs everything that is ready, named queues included, and what those
 * jobs add that is ready at once. Does not wait for scheduled jobs or retries. Needs no notifications
 * and keeps no timetable. Rejects as run() does.
 */
export async function runOnce<E>(options: RunOptions<E>): Promise<DrainResult> {
  const { signal, handleSignals = false, cron: _cron, ...rest } = options;
  const worker = new Worker<E>({ ...rest, notify: false });
  const result = counted(worker.hooks);
  if (handleSignals) stopOnSignals(worker);
  const stop = () => void worker.stop("signal");
  signal?.addEventListener("abort", stop, { once: true });
  try {
    await worker.drain(signal);
  } finally {
    signal?.removeEventListener("abort", stop);
    await worker.stop("drained");
  }
  return result;
}

function counted(hooks: Hooks): DrainResult {
  const counts = { completed: 0, failed: 0, skipped: 0 };
  hooks.on("job:success", () => counts.completed++);
  hooks.on("job:skip", () => counts.skipped++);
  hooks.on("job:error", () => counts.failed++);
  return counts;
}

type Stopping = Pick<Worker<never>, "stopped" | "stop" | "abort" | "hasAbandonedJobs">;

function stopOnSignals(worker: Stopping): void {
  let first: NodeJS.Signals | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    void (first === undefined ? worker.stop(name) : worker.abort(name));
    first ??= name;
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  void worker.stopped.then(() => {
    process.off("SIGTERM", onSignal);
    process.off("SIGINT", onSignal);
    if (first !== undefined) endProcess(first, worker.hasAbandonedJobs ? LINGER_MS : CLOSING_MS);
  });
}

const LINGER_MS = 500;
/** What the rest of the application has to close. */
const CLOSING_MS = 10_000;

/**
 * A job that was given up may keep the process alive with its timers, while it runs elsewhere already.
 * Whoever else handles the signal, such as another worker, decides for himself first. The timer does
 * not keep the process from ending by itself.
 */
function endProcess(name: NodeJS.Signals, afterMs: number): void {
  setInterval(() => {
    if (process.listenerCount(name) === 0) process.kill(process.pid, name);
  }, afterMs).unref();
}
