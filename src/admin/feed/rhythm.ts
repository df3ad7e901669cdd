// A loop of periodic work, one task at a time. Each task has its own interval, and a pause in proportion to
// its duration. The costly tasks share a further pause, so that together they take a bounded part of the time.
// The loop runs while a task is wanted.
import { monotonic, wait } from "../../base/clock.ts";

export interface RhythmTask {
  readonly isWanted: () => boolean;
  readonly intervalMs: () => number;
  /** The pause after it, in multiples of its duration. */
  readonly restFactor: number;
  /** After a costly task all of them pause, except for one that has never run. */
  readonly isCostly?: boolean;
  /** Runs the task. Never rejects. May resolve to a pause other than the usual one, in milliseconds. */
  readonly run: () => Promise<number | undefined>;
}

export interface Rhythm {
  /** Starts the loop if a task is wanted now. */
  wake(): void;
  /** The same, with this task due at once. */
  hurry(task: RhythmTask): void;
  stop(): Promise<void>;
}

const LONGEST_REST_MS = 15_000;
/** All costly tasks together take at most a twelfth of the time. */
const SHARED_REST_FACTOR = 11;

export function createRhythm(tasks: readonly RhythmTask[]): Rhythm {
  const stopping = new AbortController();
  const nextAt = new Map<RhythmTask, number>();
  let costlyAt = 0;
  let sleeping: AbortController | null = null;
  let running: Promise<void> | null = null;

  const dueAt = (task: RhythmTask) => {
    const own = nextAt.get(task);
    return own === undefined ? 0 : Math.max(own, task.isCostly === true ? costlyAt : 0);
  };

  const loop = async () => {
    while (!stopping.signal.aborted) {
      const wanted = tasks.filter((task) => task.isWanted());
      if (wanted.length === 0) return;
      const due = wanted.filter((task) => dueAt(task) <= monotonic());
      // Of the costly tasks the one that has waited longest; otherwise the first would leave no time for the others.
      const waited = (task: RhythmTask) => (task.isCostly === true ? (nextAt.get(task) ?? 0) : -1);
      const [first] = due.toSorted((one, other) => waited(one) - waited(other));
      if (first === undefined) {
        const next = Math.min(...wanted.map(dueAt));
        sleeping = new AbortController();
        await wait(Math.max(next - monotonic(), 1), sleeping.signal);
        sleeping = null;
        continue;
      }
      const began = monotonic();
      const rest = await first.run();
      const tookMs = monotonic() - began;
      const usual = Math.max(
        first.intervalMs(),
        Math.min(tookMs * first.restFactor, LONGEST_REST_MS),
      );
      nextAt.set(first, monotonic() + (rest ?? usual));
      if (first.isCostly === true) {
        costlyAt = monotonic() + Math.min(tookMs * SHARED_REST_FACTOR, LONGEST_REST_MS);
      }
    }
  };

  const wake = () => {
    if (stopping.signal.aborted) return;
    sleeping?.abort();
    running ??= loop().then(() => {
      running = null;
      // wake() may have been called while the loop was ending.
      if (tasks.some((task) => task.isWanted())) wake();
    });
  };

  return {
    wake,
    hurry(task) {
      nextAt.delete(task);
      wake();
    },
    async stop() {
      stopping.abort();
      sleeping?.abort();
      await running;
    },
  };
}
