// What an application may say about the local queue: how many jobs are fetched ahead of running them.
import * as v from "valibot";
import { count, duration, strict } from "../../base/validate.ts";

/** How many jobs a worker takes ahead of running them. */
export interface LocalQueueOptions {
  /** Most jobs that are fetched ahead of the running ones. Default 2,000. */
  readonly size?: number | undefined;
  /**
   * Fetch ahead only what the recent speed will use up within 25 ms, so that slow jobs are left to
   * other workers. Default true; false fills the local queue to its size, until jobs had to go back
   * because they were not started in time.
   */
  readonly adaptive?: boolean | undefined;
  /** A job that waited this long unstarted goes back to the database. At most 100, the default. */
  readonly ttlMs?: number | undefined;
  /** After a fetch that found few jobs, wait before the next: spares the database. Default: off. */
  readonly refetchDelay?: {
    /** At most `pollIntervalMs`. */
    readonly durationMs: number;
    /** A fetch of fewer jobs than this starts the delay. Default: size. */
    readonly threshold?: number | undefined;
    /** A random number up to this of announced jobs ends the delay early. Default: 5 × size. */
    readonly maxAbortThreshold?: number | undefined;
  };
}

/** How long a fetched job may stay unstarted. */
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

/** Thresholds follow the size where they are not given. */
export function resolveLocalQueue(
  checked: v.InferOutput<typeof localQueueOptions>,
): LocalQueueConfig {
  const { size, refetchDelay } = checked;
  // What is longer was allowed once.
  const ttlMs = Math.min(checked.ttlMs, UNSTARTED_MS);
  if (refetchDelay === undefined) return { ...checked, ttlMs, refetchDelay: null };
  const { durationMs, threshold = size, maxAbortThreshold = 5 * size } = refetchDelay;
  return {
    ...checked,
    ttlMs,
    refetchDelay: { durationMs, threshold: Math.min(threshold, size), maxAbortThreshold },
  };
}
