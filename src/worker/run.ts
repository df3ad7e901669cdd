// The two ways to run a worker: until it is stopped, or once through all that is ready.
import { Worker } from "./worker.ts";
import type { WorkerOptions } from "./worker-options.ts";

export interface RunOptions<Extensions = unknown> extends WorkerOptions<Extensions> {
  /** Stops gracefully when it aborts. */
  readonly signal?: AbortSignal;
  /** Stop gracefully on SIGTERM and SIGINT; a second one aborts. Default true for run(). */
  readonly handleSignals?: boolean;
}

/** Starts a worker that runs until it is stopped. Rejects when it cannot start. */
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

/**
 * Runs everything that is ready, named queues included, and what those jobs add that is ready at
 * once; then stops. Does not wait for scheduled jobs or retries.
 */
export async function runOnce<E>(options: RunOptions<E>): Promise<void> {
  // One pass has no use for notifications or a timetable.
  const { signal, handleSignals = false, cron: _cron, ...rest } = options;
  const worker = new Worker<E>({ ...rest, notify: false });
  if (handleSignals) stopOnSignals(worker);
  const stop = () => void worker.stop("signal");
  signal?.addEventListener("abort", stop, { once: true });
  try {
    await worker.drained(signal);
  } finally {
    signal?.removeEventListener("abort", stop);
    await worker.stop("drained");
  }
}

function stopOnSignals(worker: {
  readonly stopped: Promise<void>;
  stop(reason: string): Promise<void>;
  abort(reason: string): Promise<void>;
}): void {
  let asked = false;
  const onSignal = (name: NodeJS.Signals): void => {
    void (asked ? worker.abort(name) : worker.stop(name));
    asked = true;
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  void worker.stopped.then(() => {
    process.off("SIGTERM", onSignal);
    process.off("SIGINT", onSignal);
  });
}
