// How soon a worker that died is noticed, and what then becomes of its jobs. A lease is as long as
// its holder says, so workers of one fleet may differ; these are the words in which it says it.
import * as v from "valibot";
import { InputError, type Problem } from "../base/errors.ts";
import { strict, validate } from "../base/validate.ts";

export interface RecoveryOptions {
  /** Between two heartbeats, milliseconds. Default 2,000. */
  readonly heartbeatInterval_ms?: number;
  /**
   * Without a heartbeat for so long this worker counts as dead and its jobs are freed; at least
   * three intervals. Default 7,000: with the sweep every 2 s a job waits at most 10 s.
   */
  readonly threshold_ms?: number;
  /** The same for jobs with the flag `infrastructure_resilient`. Default 60,000. */
  readonly resilientThreshold_ms?: number;
  /** Between two looks for dead workers, at least a heartbeat interval. Default: that interval. */
  readonly sweepInterval_ms?: number;
  /** How long a freed job waits before it may run again. Default 0. */
  readonly delay_ms?: number;
  /** Between two resets of locks older than 4 hours, ± 10 %. Default 540,000: 8 to 10 minutes. */
  readonly resetLocksInterval_ms?: number;
}

export interface RecoveryConfig {
  readonly heartbeatInterval_ms: number;
  readonly threshold_ms: number;
  readonly resilientThreshold_ms: number;
  readonly sweepInterval_ms: number;
  readonly delay_ms: number;
}

const RESET_LOCKS_MS = 540_000;
const DAY_MS = 86_400_000;
/** Beats that may fail before the lease is in danger. */
const INTERVALS_PER_LEASE = 3;

const milliseconds = (least: number) =>
  v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(DAY_MS, `must be at most ${DAY_MS}`),
  );

// As a member, so that problems are told with its name before them.
const schema = strict({
  recovery: v.optional(
    strict({
      heartbeatInterval_ms: v.optional(milliseconds(50), 2_000),
      threshold_ms: v.optional(milliseconds(150), 7_000),
      resilientThreshold_ms: v.optional(milliseconds(150), 60_000),
      sweepInterval_ms: v.optional(milliseconds(50)),
      delay_ms: v.optional(milliseconds(0), 0),
      resetLocksInterval_ms: v.optional(milliseconds(100), RESET_LOCKS_MS),
    }),
    {},
  ),
});

/** What a worker is told, with the defaults filled in. `recovery` null: there is none. */
export interface ResolvedRecovery {
  readonly recovery: RecoveryConfig | null;
  /** Locks are reset whether there are heartbeats or not. */
  readonly resetLocksInterval_ms: number;
}

/** Throws InputError with all problems, also where the durations do not fit each other. */
export function resolveRecovery(options: false | RecoveryOptions | undefined): ResolvedRecovery {
  if (options === false) return { recovery: null, resetLocksInterval_ms: RESET_LOCKS_MS };
  const checked = validate(schema, { recovery: options }).recovery;
  const { heartbeatInterval_ms, threshold_ms, resilientThreshold_ms, delay_ms } = checked;
  const sweepInterval_ms = checked.sweepInterval_ms ?? heartbeatInterval_ms;
  const problems: Problem[] = [];
  const need = (fits: boolean, name: string, message: string): void => {
    if (!fits) problems.push({ path: `recovery.${name}`, message });
  };
  need(
    threshold_ms >= INTERVALS_PER_LEASE * heartbeatInterval_ms,
    "threshold_ms",
    `must be at least ${INTERVALS_PER_LEASE} times heartbeatInterval_ms`,
  );
  need(
    resilientThreshold_ms >= threshold_ms,
    "resilientThreshold_ms",
    "must not be less than threshold_ms",
  );
  need(
    sweepInterval_ms >= heartbeatInterval_ms,
    "sweepInterval_ms",
    "must not be less than heartbeatInterval_ms: dead workers are looked for with a heartbeat",
  );
  if (problems.length > 0) throw new InputError(problems);
  const durations = { heartbeatInterval_ms, threshold_ms, resilientThreshold_ms };
  return {
    recovery: { ...durations, sweepInterval_ms, delay_ms },
    resetLocksInterval_ms: checked.resetLocksInterval_ms,
  };
}
