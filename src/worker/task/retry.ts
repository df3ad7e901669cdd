// How long a failed job waits for its next attempt, where Graphile Worker's delay (queue/settle/retry-policy.ts) is
// not wanted: per worker, per task, or per job by the name of a policy.
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import { LONGEST_DELAY_MS } from "./outcomes.ts";
import type { TaskJob } from "./task-job.ts";

/**
 * Returns the delay before the next attempt, in milliseconds, or `false` for no further attempt. `attempt`: the
 * one that has failed; the first is 1. Called once a failed attempt, not for the last one. A policy that throws
 * or returns no number from 0 to ten years is logged, and Graphile Worker's delay is used.
 */
export type RetryPolicy = (attempt: number, error: Error, job: TaskJob) => number | false;

/** A policy, as an option. */
export const retryPolicy = v.custom<RetryPolicy>(
  (value) => typeof value === "function",
  "must be exponential(), fixed() or a function (attempt, error, job) => milliseconds or false",
);

/** Retry policies by name, for jobs that are added with `retry: NAME`. */
export type RetryPolicies = Readonly<Record<string, RetryPolicy>>;

/** Options of exponential(). */
export interface ExponentialOptions {
  /** Delay after the first attempt, milliseconds. Default 1,000. */
  readonly firstMs?: number | undefined;
  /** Each delay is the one before times this, 1 to 100. Default 2. */
  readonly factor?: number | undefined;
  /** Longest delay, milliseconds. Default six hours. */
  readonly maxMs?: number | undefined;
  /** Share by which a delay varies at random, 0 to 1: 0.1 gives 90 % to 110 %. Default 0.1. */
  readonly jitter?: number | undefined;
}

const within = (least: number, most: number) => {
  const message = `must be a number from ${least} to ${most.toLocaleString("en-US")}`;
  return v.pipe(
    v.number(message),
    v.check((value) => value >= least && value <= most, message),
  );
};

const milliseconds = within(0, LONGEST_DELAY_MS);

const exponentialSchema = strict({
  firstMs: v.optional(milliseconds, 1_000),
  factor: v.optional(within(1, 100), 2),
  maxMs: v.optional(milliseconds, 6 * 3_600_000),
  jitter: v.optional(within(0, 1), 0.1),
});

/**
 * Delays that grow: `firstMs` after the first attempt, then times `factor` each, at most `maxMs`, each varied at
 * random by `jitter`. Throws InputError with everything that is wrong with the options.
 */
export function exponential(options: ExponentialOptions = {}): RetryPolicy {
  const { firstMs, factor, maxMs, jitter } = validate(exponentialSchema, options);
  return (attempt) => {
    const delayMs = Math.min(firstMs * factor ** (attempt - 1), maxMs);
    return delayMs * (1 + jitter * (2 * Math.random() - 1));
  };
}

/** The same delay after each attempt, in milliseconds, 0 to ten years. Throws InputError. */
export function fixed(delayMs: number): RetryPolicy {
  const checked = validate(milliseconds, delayMs);
  return () => checked;
}
