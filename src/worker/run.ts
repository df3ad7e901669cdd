// Two ways to run a worker: until it is stopped, or until no job is ready.
import { setInterval } from "../base/clock.ts";
import type { WorkerOptions } from "./options/worker-options.ts";
import type { Hooks } from "./task/hooks.ts";
import { Worker } from "./worker.ts";

/** The options of run() and runOnce(): those of a worker, and what stops it. */
export interface RunOptions<Extensions = unknown> extends WorkerOptions<Extensions> {
  /** When this signal aborts, the worker stops gracefully. Default: none. */
  readonly signal?: AbortSignal;
  /**
   * Whether SIGTERM and SIGINT stop the worker gracefully, within `stopTimeoutMs` plus `abortGraceMs`. A second signal
   * aborts running jobs at once. If the process is still alive 10 s after such a stop (0.5 s if jobs were abandoned)
   * and no other code listens for the first signal, the process ends itself by this signal. So when `worker.stopped`
   * resolves, close HTTP servers and the like. Default true for run(), false for runOnce().
   */
  readonly handleSignals?: boolean;
}

/**
 * Starts a worker, which runs until it is stopped. Resolves when the worker begins to fetch jobs. Rejects with
 * InputError for invalid options, or as `Worker.start()` does.
 */
export async function run<E>(options: RunOptions<E>): Promise<Worker<E>> {
  const { signal, handleSignals = true, ...rest } = options;
  const worker = new Worker<E>(rest);
  if (handleSignals) stopOnSignals(worker);
  if (signal !== undefined) stopOnAbort(worker, signal);
  await worker.start();
  return worker;
}

/** The result of runOnce(). Results whose write was not confirmed do not count. */
export interface DrainResult {
  /** The number of jobs that were completed. */
  readonly completed: number;
  /** The number of failed attempts, including attempts after which the job is retried. */
  readonly failed: number;
  /** The number of jobs that an interceptor skipped. */
  readonly skipped: number;
}

/**
 * Runs jobs until no job is ready or running, and then stops. Also runs jobs that are added meanwhile, but does not
 * wait for jobs and retries that are due later. Adds no jobs of cron entries and schedules. Rejects as run() does.
 */
export async function runOnce<E>(options: RunOptions<E>): Promise<DrainResult> {
  const { signal, handleSignals = false, ...rest } = options;
  const { worker, result } = workerForOnce(rest);
  if (handleSignals) stopOnSignals(worker);
  if (signal !== undefined) stopOnAbort(worker, signal);
  await drainOnce(worker);
  return result;
}

/** Returns the worker of runOnce(), and the result, which is counted while the worker runs. */
export function workerForOnce<E>({ cron: _cron, ...options }: WorkerOptions<E>): {
  readonly worker: Worker<E>;
  readonly result: DrainResult;
} {
  const worker = new Worker<E>({ ...options, notify: false, schedules: false });
  return { worker, result: countResults(worker.hooks) };
}

/** Runs jobs until no job is ready or running, or until `signal` aborts, and then stops the worker. */
export async function drainOnce<E>(worker: Worker<E>, signal?: AbortSignal): Promise<void> {
  try {
    await worker.drain(signal);
  } finally {
    await worker.stop("drained");
  }
}

function countResults(hooks: Hooks): DrainResult {
  const counts = { completed: 0, failed: 0, skipped: 0 };
  hooks.on("job:complete", ({ result }) => {
    if (result === "completed" || result === "failed" || result === "skipped") counts[result]++;
  });
  return counts;
}

type StoppingWorker = Pick<Worker<never>, "stopped" | "stop" | "abort" | "hasAbandonedJobs">;

function stopOnAbort(worker: StoppingWorker, signal: AbortSignal): void {
  const stop = () => void worker.stop("signal");
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  void worker.stopped.then(() => signal.removeEventListener("abort", stop));
}

function stopOnSignals(worker: StoppingWorker): void {
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
/** The time in which the rest of the application can close. */
const CLOSING_MS = 10_000;

/**
 * Ends the process if something such as an abandoned job still keeps the process alive after `afterMs`, and no other
 * code listens for the signal.
 */
function endProcess(name: NodeJS.Signals, afterMs: number): void {
  setInterval(() => {
    if (process.listenerCount(name) === 0) process.kill(process.pid, name);
  }, afterMs).unref();
}
