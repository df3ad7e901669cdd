// The process that starts programs for a worker (program-host.ts). It receives orders from the worker, and ends running
// programs when the worker closes the channel or has exited.
import { messageOf } from "../../../base/errors.ts";
import { runProgram } from "../../../worker/files/run-program.ts";
import type { StarterOrder, StarterReport } from "./program-host.ts";

/**
 * Starts the programs that the worker orders. When the channel is closed, ends the programs and resolves to 0, the exit
 * status of this process.
 */
export async function startPrograms(): Promise<number> {
  // These signals are ignored: the worker handles them, and sends an order for each program that is to be stopped.
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(name, () => {});
  const running = new Map<number, { stop: AbortController; ended: Promise<void> }>();
  process.on("message", (order: StarterOrder) => {
    if ("stop" in order) return running.get(order.id)?.stop.abort();
    const stop = new AbortController();
    const ended = runOne(order, stop.signal).finally(() => running.delete(order.id));
    running.set(order.id, { stop, ended });
  });
  await new Promise((resolve) => process.once("disconnect", resolve));
  const left = [...running.values()];
  for (const { stop } of left) stop.abort();
  await Promise.all(left.map(({ ended }) => ended));
  return 0;
}

async function runOne(
  { id, run, killAfterMs }: Extract<StarterOrder, { run: unknown }>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const onStart = (pid: number) => void report({ id, pid });
    const onLines = (stream: "stdout" | "stderr", lines: readonly string[]) =>
      report({ id, stream, lines });
    await report({ id, end: await runProgram(run, { signal, killAfterMs, onStart, onLines }) });
  } catch (error) {
    await report({ id, problem: messageOf(error) });
  }
}

/** Sends the message to the worker. Resolves when the message is sent, or at once if the channel is closed. */
function report(message: StarterReport): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
    else resolve();
  });
}
