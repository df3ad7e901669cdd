// The options of the local queue, with their checks and defaults.
import * as v from "valibot";
import { count, duration, strict } from "../../base/validate.ts";

/** How many jobs a worker fetches ahead, before slots are free for them, and how long these jobs may wait. */
export interface LocalQueueOptions {
  /** The maximum number of jobs fetched ahead, at most 100,000. Default 2,000. */
  readonly size?: number | undefined;
  /**
   * Whether a fetch requests only as many jobs ahead as the worker runs within 25 ms at its present speed, so that slow
   * jobs are left to other workers. If false, fetches fill the local queue to `size`. Always true for tasks under
   * limits or with the option `concurrency`, and for all tasks after a job has waited `ttlMs`. Default true.
   */
  readonly adaptive?: boolean | undefined;
  /**
   * The time after which an unstarted job is returned to the database, in milliseconds. Default 100. Longer times count
   * as 100.
   */
  readonly ttlMs?: number | undefined;
  /** Delays the next fetch after a fetch that found few jobs, to reduce the load of the database. Default: no delay. */
  readonly refetchDelay?: {
    /** The length of the delay, in milliseconds. At most `pollIntervalMs`. */
    readonly durationMs: number;
    /**
     * If a fetch finds fewer jobs than this number, and fewer than the fetch requested, the delay begins. Default:
     * `size`.
     */
    readonly threshold?: number | undefined;
    /** The delay ends early after a random number of announced jobs, at most this number. Default: 5 × `size`. */
    readonly maxAbortThreshold?: number | undefined;
  };
}

/** The longest time that a fetched job may stay unstarted, in milliseconds. */
export const UNSTARTED_MS = 100;

export interface LocalQueueConfig {
  readonly size: number;
  readonly adaptive: boolean;
  readonly ttlMs: number;
  readonly refetchDelay: {
    readonly durationMs: number;
    readonly threshold: number;
    readonly maxAbortThreshold: number;
  } | null;
}

export const localQueueOptions = v.optional(
  strict({
    size: v.optional(count(100_000), 2_000),
    adaptive: v.optional(v.boolean("must be true or false"), true),
    ttlMs: v.optional(duration, UNSTARTED_MS),
    refetchDelay: v.optional(
      strict({
        durationMs: duration,
        threshold: v.optional(count(100_000)),
        maxAbortThreshold: v.optional(count(1_000_000)),
      }),
    ),
  }),
  {},
);

/** Sets the defaults of the thresholds, and reduces values that are too large. */
export function resolveLocalQueue(
  checked: v.InferOutput<typeof localQueueOptions>,
): LocalQueueConfig {
  const { size, refetchDelay } = checked;
  // Longer times are not rejected, because they were valid in earlier versions.
  const ttlMs = Math.min(checked.ttlMs, UNSTARTED_MS);
  if (refetchDelay === undefined) return { ...checked, ttlMs, refetchDelay: null };
  const { durationMs, threshold = size, maxAbortThreshold = 5 * size } = refetchDelay;
  return {
    ...checked,
    ttlMs,
    refetchDelay: { durationMs, threshold: Math.min(threshold, size), maxAbortThreshold },
  };
}
