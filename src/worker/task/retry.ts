// Retry policies: the delay of a failed job before its next attempt, in place of Graphile Worker's delay
// (queue/settle/retry-policy.ts). A worker or a task has its policy as an option; a job names a policy in a flag.
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import { numberText } from "../../domain/words.ts";
import { MAX_DELAY_MS } from "./outcomes.ts";
import type { TaskJob } from "./task-job.ts";

/**
 * Returns the delay before the next attempt, in milliseconds, or `false` for no further attempt. `attempt`: the
 * number of the failed attempt, from 1. Called at most once for an attempt, and only if the delay is needed: not after
 * a PermanentFailure, for example. If a policy throws, or returns anything but `false` or a number from 0 to ten years,
 * that is logged, and Graphile Worker's delay is used.
 */
export type RetryPolicy = (attempt: number, error: Error, job: TaskJob) => number | false;

/** The check of a policy in options. */
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
  /** The factor by which each delay is multiplied to get the next one, 1 to 100. Default 2. */
  readonly factor?: number | undefined;
  /** The longest delay before it is varied by `jitter`, in milliseconds. Default six hours. */
  readonly maxMs?: number | undefined;
  /** The share by which a delay varies at random, 0 to 1: 0.1 gives 90 % to 110 %. Default 0.1. */
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

/**
 * Returns a policy with growing delays: `firstMs` after the first attempt, multiplied by `factor` after each
 * further one, at most `maxMs`, varied at random by `jitter`. Throws InputError with all invalid options.
 */
export function exponential(options: ExponentialOptions = {}): RetryPolicy {
  const { firstMs, factor, maxMs, jitter } = validate(exponentialSchema, options);
  return (attempt) => {
    // The power may be infinite, and 0 times infinity is NaN.
    const growth = Math.min(factor ** (attempt - 1), Number.MAX_VALUE);
    const delayMs = Math.min(firstMs * growth, maxMs);
    return Math.min(delayMs * (1 + jitter * (2 * Math.random() - 1)), MAX_DELAY_MS);
  };
}

/** Returns a policy with the same delay after each attempt, in milliseconds, 0 to ten years. Throws InputError. */
export function fixed(delayMs: number): RetryPolicy {
  const checked = validate(milliseconds, delayMs);
  return () => checked;
}
