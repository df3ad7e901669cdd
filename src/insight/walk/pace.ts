// The number of rows that a walk reads in one statement: as many as take about 100 ms. So no statement occupies a
// connection or keeps an old snapshot for long, and a response is in time, however large the rows are.
import { monotonic } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";

/** The target duration of a step, in milliseconds. */
export const STEP_MS = 100;
const MAX_GROWTH = 8;
const LARGEST = 250_000;

export interface WalkPace {
  /** The number of rows of the next step. */
  readonly size: number;
  /** Whether the last statement exceeded its time limit. Then the response ends, and the next one has smaller steps. */
  readonly isStuck: boolean;
  /** Whether a statement for a single row exceeded the limit, so that the row can only be left out. */
  readonly isBlocked: boolean;
  /** Runs one step of at most `most` rows and adapts to its duration; null if it exceeded its time limit. */
  run<T>(step: (size: number) => Promise<T>, most?: number): Promise<T | null>;
  /** Makes the next step smaller, because a step found as many rows as it can return, and may have read too many. */
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
      // An eighth of the last step's size, and not of `current`: `current` may have grown eightfold since, so that its
      // eighth would be no smaller.
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
