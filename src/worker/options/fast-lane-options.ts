// Checks the option `fastLane`.
import * as v from "valibot";
import { duration, strict } from "../../base/validate.ts";

export interface FastLaneConfig {
  /** After this time, a transaction of the fast lane is committed even if some of its jobs still run. */
  readonly limitMs: number;
}

/**
 * The maximum of `limitMs`. With `recovery: false` or behind a transaction pooler, PostgreSQL ends the open transaction
 * of a frozen worker after 10 s (FROZEN_MS), so the maximum is well below that.
 */
const MAX_FAST_MS = 5_000;
const DEFAULT_FAST_MS = 100;
const fastLimit = v.pipe(duration, v.maxValue(MAX_FAST_MS, "must be at most 5,000"));

const removedQueues = v.pipe(
  v.unknown(),
  v.check(
    () => false,
    "was removed: named queues are always locked by locked_by; remove this option",
  ),
);

export const fastLaneOption = v.optional(
  v.union(
    [
      v.boolean(),
      strict({
        limitMs: v.optional(fastLimit, DEFAULT_FAST_MS),
        queues: v.optional(removedQueues),
      }),
    ],
    "must be true, false or { limitMs }",
  ),
  false,
);

export const resolveFastLane = (
  checked: v.InferOutput<typeof fastLaneOption>,
): FastLaneConfig | null => (checked === true ? { limitMs: DEFAULT_FAST_MS } : checked || null);
