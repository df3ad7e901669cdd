// The number of rows that a walk reads in one statement: as many as take about 100 ms, so that no statement occupies a
// connection or an old snapshot for long, and the response is in time for any data.
import { monotonic } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";

/** The target time of a step. */
export const STEP_MS = 100;
const MOST_GROWTH = 8;
const LARGEST = 250_000;

export interface WalkPace {
  /** Rows of the next step. */
  readonly size: number;
  /** A statement exceeded its time at this pace: the response ends here, and the next one is slower. */
  readonly isStuck: boolean;
  /** A single row exceeded the time: it can only be skipped. */
  readonly isBlocked: boolean;
  /** Runs one step of at most `most` rows and adapts to its duration; null if it exceeded its time limit. */
  run<T>(step: (size: number) => Promise<T>, most?: number): Promise<T | null>;
  /** A step found more than it can return: the same again with less. */
  slowDown(): void;
}

/** `size`: of the first step. */
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
      // Slower than the step was: a fast step has already increased the pace, and would be repeated for ever.
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
        const growth = Math.min(MOST_GROWTH, STEP_MS / Math.max(1, monotonic() - began));
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

const slower = (size: number) => Math.max(1, Math.floor(size / MOST_GROWTH));
