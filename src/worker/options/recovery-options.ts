// Defines and checks the worker's option `recovery`.
import * as v from "valibot";
import { InputError, type Problem } from "../../base/errors.ts";
import { strict, validate } from "../../base/validate.ts";
import { STALE_LOCK_MS } from "../../queue/workers/reset-stale-locks.ts";

/**
 * How soon other workers recover the jobs of a worker that has ended without a stop, and when stale locks (old locks of
 * workers without a heartbeat row) are reset.
 */
export interface RecoveryOptions {
  /** The time between two heartbeats, in milliseconds, at least 50. Default 2,000. */
  readonly heartbeatIntervalMs?: number | undefined;
  /**
   * The time without a heartbeat after which other workers recover this worker's jobs, in milliseconds; at least three
   * heartbeat intervals. Default 7,000: with the default `sweepIntervalMs`, jobs are recovered after 7 to 10 s.
   */
  readonly thresholdMs?: number | undefined;
  /** Like `thresholdMs`, for jobs with the flag `infrastructure_resilient`; at least `thresholdMs`. Default 60,000. */
  readonly resilientThresholdMs?: number | undefined;
  /**
   * The time between two searches of this worker for stale workers, in milliseconds; at least `heartbeatIntervalMs`,
   * which is the default.
   */
  readonly sweepIntervalMs?: number | undefined;
  /** The time before a job that this worker recovers from another worker may run again, in milliseconds. Default 0. */
  readonly delayMs?: number | undefined;
  /**
   * The time between two resets of stale locks, in milliseconds, varied at random by ± 10 %. Default 540,000: 8 to 10
   * minutes, as in Graphile Worker.
   */
  readonly resetLocksIntervalMs?: number | undefined;
  /**
   * The age at which a lock of a worker without a heartbeat row is reset, in milliseconds: 1,000 to 30 days.
   * Default 14,400,000: 4 hours, as in Graphile Worker. This worker renews the locks of running jobs after a quarter of
   * this value, at the latest after an hour.
   */
  readonly staleLockThresholdMs?: number | undefined;
}

export interface RecoveryConfig {
  readonly heartbeatIntervalMs: number;
  readonly thresholdMs: number;
  readonly resilientThresholdMs: number;
  readonly sweepIntervalMs: number;
  readonly delayMs: number;
}

const RESET_LOCKS_MS = 540_000;
const DAY_MS = 86_400_000;
/** The least number of heartbeat intervals within a lease, so that two heartbeats in a row may fail. */
const INTERVALS_PER_LEASE = 3;

const milliseconds = (least: number, most = DAY_MS) =>
  v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(most, `must be at most ${most}`),
  );

// The outer object makes the paths of problems begin with `recovery`.
const schema = strict({
  recovery: v.optional(
    strict({
      heartbeatIntervalMs: v.optional(milliseconds(50), 2_000),
      thresholdMs: v.optional(milliseconds(150), 7_000),
      resilientThresholdMs: v.optional(milliseconds(150), 60_000),
      sweepIntervalMs: v.optional(milliseconds(50)),
      delayMs: v.optional(milliseconds(0), 0),
      resetLocksIntervalMs: v.optional(milliseconds(100), RESET_LOCKS_MS),
      staleLockThresholdMs: v.optional(milliseconds(1_000, 30 * DAY_MS), STALE_LOCK_MS),
    }),
    {},
  ),
});

/** The options with their defaults. `recovery` is null if heartbeats are off. */
export interface ResolvedRecovery {
  readonly recovery: RecoveryConfig | null;
  /** Not in `recovery`, because stale locks are also reset if heartbeats are off. */
  readonly resetLocksIntervalMs: number;
  readonly staleLockThresholdMs: number;
}

/** Returns the checked options. Throws InputError if an option is invalid. */
export function resolveRecovery(options: false | RecoveryOptions | undefined): ResolvedRecovery {
  if (options === false) {
    return {
      recovery: null,
      resetLocksIntervalMs: RESET_LOCKS_MS,
      staleLockThresholdMs: STALE_LOCK_MS,
    };
  }
  const checked = validate(schema, { recovery: options }).recovery;
  const { heartbeatIntervalMs, thresholdMs, resilientThresholdMs, delayMs } = checked;
  const sweepIntervalMs = checked.sweepIntervalMs ?? heartbeatIntervalMs;
  const problems: Problem[] = [];
  const need = (fits: boolean, name: string, message: string): void => {
    if (!fits) problems.push({ path: `recovery.${name}`, message });
  };
  need(
    thresholdMs >= INTERVALS_PER_LEASE * heartbeatIntervalMs,
    "thresholdMs",
    `must be at least ${INTERVALS_PER_LEASE} times heartbeatIntervalMs`,
  );
  need(
    resilientThresholdMs >= thresholdMs,
    "resilientThresholdMs",
    "must not be less than thresholdMs",
  );
  need(
    sweepIntervalMs >= heartbeatIntervalMs,
    "sweepIntervalMs",
    "must not be less than heartbeatIntervalMs, because each search for stale workers is sent with a heartbeat",
  );
  if (problems.length > 0) throw new InputError(problems);
  const durations = { heartbeatIntervalMs, thresholdMs, resilientThresholdMs };
  return {
    recovery: { ...durations, sweepIntervalMs, delayMs },
    resetLocksIntervalMs: checked.resetLocksIntervalMs,
    staleLockThresholdMs: checked.staleLockThresholdMs,
  };
}
