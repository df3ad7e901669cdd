// A loop that runs periodic tasks of the feed, one at a time, as long as a task is wanted. After a run, the task
// usually pauses for its interval, or longer if the run took long.
import { monotonic, wait } from "../../base/clock.ts";

export interface RhythmTask {
  readonly isWanted: () => boolean;
  readonly intervalMs: () => number;
  /** The pause after a run, as a multiple of the run's duration: at most MAX_PAUSE_MS, but at least the interval. */
  readonly pauseFactor: number;
  /** Whether the task is costly. After a run of a costly task, all costly tasks usually pause. Default: false. */
  readonly isCostly?: boolean;
  /**
   * Runs the task. Never rejects. Resolves to the pause after this run, in milliseconds; undefined: the pause follows
   * from `intervalMs` and `pauseFactor`.
   */
  readonly run: () => Promise<number | undefined>;
}

export interface Rhythm {
  /** Starts or wakes the loop. Called when a task may have become wanted. */
  wake(): void;
  /** Makes this task due at once. If the task is running, it runs once more. */
  hurry(task: RhythmTask): void;
  stop(): Promise<void>;
}

const MAX_PAUSE_MS = 15_000;
/**
 * The pause of all costly tasks after a run of one of them, as a multiple of the run's duration. So costly tasks
 * together usually take at most a twelfth of the time.
 */
const SHARED_PAUSE_FACTOR = 11;

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
      // Tasks that are not costly come first. Costly tasks follow in the order in which their own pauses ended.
      const rank = (task: RhythmTask) => (task.isCostly === true ? (nextAt.get(task) ?? 0) : -1);
      const [first] = due.toSorted((one, other) => rank(one) - rank(other));
      if (first === undefined) {
        const next = Math.min(...wanted.map(dueAt));
        sleeping = new AbortController();
        await wait(Math.max(next - monotonic(), 1), sleeping.signal);
        sleeping = null;
        continue;
      }
      const began = monotonic();
      nextAt.set(first, began);
      const pauseMs = await first.run();
      const tookMs = monotonic() - began;
      const usualMs = Math.max(
        first.intervalMs(),
        Math.min(tookMs * first.pauseFactor, MAX_PAUSE_MS),
      );
      // A task that was hurried during its run, usually after a write, stays due: the run may have read the data before
      // the write.
      if (nextAt.has(first)) nextAt.set(first, monotonic() + (pauseMs ?? usualMs));
      if (first.isCostly === true) {
        costlyAt = monotonic() + Math.min(tookMs * SHARED_PAUSE_FACTOR, MAX_PAUSE_MS);
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
