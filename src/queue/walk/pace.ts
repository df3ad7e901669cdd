// How much a walk looks at in one statement: as much as takes about 100 ms, so that no statement holds
// a connection or an old snapshot for long, and the answer ends in time whatever the rows are like.
import { monotonic } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";

const STEP_MS = 100;
const MOST_GROWTH = 8;
const LARGEST = 250_000;

export interface Pace {
  /** Rows of the next step. */
  readonly size: number;
  /** A statement took too long at this pace: the answer ends here, and the next one goes slower. */
  readonly isStuck: boolean;
  /** Runs one step and learns from it; null when it ran into its time limit. */
  run<T>(step: (size: number) => Promise<T>): Promise<T | null>;
  /** A step found more than it can tell: the same again with less. */
  slowDown(): void;
}

/** `size`: of the first step. */
export function createPace(size: number): Pace {
  let current = size;
  let isStuck = false;
  return {
    get size() {
      return current;
    },
    get isStuck() {
      return isStuck;
    },
    slowDown() {
      current = slower(current);
    },
    async run(step) {
      const began = monotonic();
      isStuck = false;
      try {
        const result = await step(current);
        const growth = Math.min(MOST_GROWTH, STEP_MS / Math.max(1, monotonic() - began));
        current = Math.max(1, Math.min(LARGEST, Math.round(current * growth)));
        return result;
      } catch (error) {
        const isSlow = error instanceof WorkerError && error.code === "database_timeout";
        // One row that takes so long is not a matter of pace.
        if (!isSlow || current === 1) throw error;
        isStuck = true;
        current = slower(current);
        return null;
      }
    },
  };
}

const slower = (size: number) => Math.max(1, Math.floor(size / MOST_GROWTH));
