// Chooses how many rows the next statement of a walk (walk.ts) or an export reads. Each statement is a step and should
// take about 100 ms, so that no statement occupies a connection, or prevents VACUUM from removing dead rows, for long.
import { monotonic } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";

/** The target duration of a step, in milliseconds. */
export const STEP_MS = 100;
const MAX_GROWTH = 8;
const LARGEST = 250_000;

export interface WalkPace {
  /** The number of rows of the next step. */
  readonly size: number;
  /** Whether the last step exceeded the time limit of a statement. */
  readonly isStuck: boolean;
  /** Whether the last step exceeded the time limit with a single row. The caller has to leave out that row. */
  readonly isBlocked: boolean;
  /** Runs a step of at most `most` rows, and adapts `size` to the step's duration. Returns null after a timeout. */
  run<T>(step: (size: number) => Promise<T>, most?: number): Promise<T | null>;
  /** Makes the next step smaller. */
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
      // Not slower(current): run() may have made `current` eight times as large as `last`.
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
