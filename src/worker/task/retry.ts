// Retry policies. The delay of a policy replaces Graphile Worker's delay (queue/settle/retry-policy.ts).
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import { numberText } from "../../domain/words.ts";
import { MAX_DELAY_MS } from "./outcomes.ts";
import type { TaskJob } from "./task-job.ts";

/**
 * Returns the delay before the next attempt, in milliseconds, or `false` for no further attempt. `attempt`: the
 * number of the failed attempt, from 1. The policy is called at most once for an attempt, and only if the delay is
 * needed. If the policy throws, or returns anything but `false` or milliseconds from 0 to ten years, the problem is
 * logged, and Graphile Worker's delay is used. Graphile Worker's delay is also used if the policy returns `false` or 0
 * for an attempt that has requested a back-off.
 */
export type RetryPolicy = (attempt: number, error: Error, job: TaskJob) => number | false;

/** The schema that checks a retry policy in options. */
export const retryPolicy = v.custom<RetryPolicy>(
  (value) => typeof value === "function",
  "must be exponential(), fixed() or a function (attempt, error, job) => milliseconds or false",
);

/** Retry policies by name, for jobs that are added with `retry: NAME`. */
export type RetryPolicies = Readonly<Record<string, RetryPolicy>>;

/** Options of exponential(). */
export interface ExponentialOptions {
  /** The delay after the first attempt, in milliseconds. Default 1,000. */
  readonly firstMs?: number | undefined;
  /** The factor by which the delay grows after each further attempt, 1 to 100. Default 2. */
  readonly factor?: number | undefined;
  /** The longest delay before `jitter` varies it, in milliseconds. Default six hours. */
  readonly maxMs?: number | undefined;
  /** The share by which each delay varies at random, 0 to 1: with 0.1, by up to 10 % up or down. Default 0.1. */
  readonly jitter?: number | undefined;
}

const numberIn = (least: number, most: number) => {
  const message = `must be a number from ${least} to ${numberText(most)}`;
  return v.pipe(
    v.number(message),
    v.check((value) => value >= least && value <= most, message),
  );
};

const milliseconds = numberIn(0, MAX_DELAY_MS);

const exponentialSchema = strict({
  firstMs: v.optional(milliseconds, 1_000),
  factor: v.optional(numberIn(1, 100), 2),
  maxMs: v.optional(milliseconds, 6 * 3_600_000),
  jitter: v.optional(numberIn(0, 1), 0.1),
});

/** Returns a policy with exponentially growing delays. Throws InputError with all invalid options. */
export function exponential(options: ExponentialOptions = {}): RetryPolicy {
  const { firstMs, factor, maxMs, jitter } = validate(exponentialSchema, options);
  return (attempt) => {
    // The power may be infinite, and 0 times infinity is NaN.
    const growth = Math.min(factor ** (attempt - 1), Number.MAX_VALUE);
    const delayMs = Math.min(firstMs * growth, maxMs);
    return Math.min(delayMs * (1 + jitter * (2 * Math.random() - 1)), MAX_DELAY_MS);
  };
}

/**
 * Returns a policy with the same delay after each attempt: `delayMs`, from 0 to ten years. Throws InputError for any
 * other delay.
 */
export function fixed(delayMs: number): RetryPolicy {
  const checked = validate(milliseconds, delayMs);
  return () => checked;
}
