// How much a walk looks at in one statement: as much as takes about 100 ms, so that no statement holds
// a connection or an old snapshot for long, and the answer ends in time whatever the rows are like.
import { monotonic } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";

/** How long a step aims to take. */
export const STEP_MS = 100;
const MOST_GROWTH = 8;
const LARGEST = 250_000;

export interface WalkPace {
  /** Rows of the next step. */
  readonly size: number;
  /** A statement took too long at this pace: the answer ends here, and the next one goes slower. */
  readonly isStuck: boolean;
  /** It was a single row that took too long: it can only be passed over. */
  readonly isBlocked: boolean;
  /** Runs one step, of `most` rows at the most, and learns from it; null when it ran into its time limit. */
  run<T>(step: (size: number) => Promise<T>, most?: number): Promise<T | null>;
  /** A step found more than it can tell: the same again with less. */
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
      // Than the step was: a quick one has made the pace faster already, and would be repeated for ever.
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
