// Chooses the number of rows that the next statement reads, in a walk (walk.ts) and in an export. Each statement is a
// step and should take about 100 ms, however large the rows are. Then no statement occupies a connection or keeps its
// snapshot for long, and responses are in time.
import { monotonic } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";

/** The target duration of a step, in milliseconds. */
export const STEP_MS = 100;
const MAX_GROWTH = 8;
const LARGEST = 250_000;

export interface WalkPace {
  /** The number of rows of the next step. */
  readonly size: number;
  /** Whether the last step exceeded its time limit. Then walk() ends, and its next call begins with `size` rows. */
  readonly isStuck: boolean;
  /** Whether the last step exceeded its time limit with a single row. The caller has to leave out that row. */
  readonly isBlocked: boolean;
  /** Runs one step of at most `most` rows, and adapts `size` to its duration. Returns null if the step timed out. */
  run<T>(step: (size: number) => Promise<T>, most?: number): Promise<T | null>;
  /** Makes the next step smaller. Called if the last step has perhaps read many rows after its last result. */
  slowDown(): void;
}

/** `size`: the number of rows of the first step. */
export function createPace(size: number): WalkPace {
  let current = size;
  let last = size;
  let isStuck = false;
  let isBlocked = false;
  return {
    get size() {
      return current;
    },
    get isStuck() {
      return isStuck;
    },
    get isBlocked() {
      return isBlocked;
    },
    slowDown() {
      // The next step gets an eighth of the last step's size. An eighth of `current` might not be smaller than the last
      // step, because run() may have made `current` eight times as large.
      current = slower(last);
    },
    async run(step, most = LARGEST) {
      current = Math.min(current, Math.max(1, most));
      last = current;
      const began = monotonic();
      isStuck = false;
      isBlocked = false;
      try {
        const result = await step(current);
        const growth = Math.min(MAX_GROWTH, STEP_MS / Math.max(1, monotonic() - began));
        current = Math.max(1, Math.min(LARGEST, Math.round(current * growth)));
        return result;
      } catch (error) {
        const isSlow = error instanceof WorkerError && error.code === "database_timeout";
        if (!isSlow) throw error;
        isStuck = true;
        isBlocked = current === 1;
        current = slower(current);
        return null;
      }
    },
  };
}

const slower = (size: number) => Math.max(1, Math.floor(size / MAX_GROWTH));
