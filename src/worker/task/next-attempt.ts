// Decides what follows a failed attempt. The first of these that applies decides:
//
//   1. the thrown error  PermanentFailure: no attempt follows. Snooze: its time; the attempt does not count.
//                        RetryAfter: its time, if any; with `backOff` the attempt does not count, and other jobs wait
//   2. the job           the policy that its flag `retry:NAME` names
//   3. the task          its option `retry`
//   4. the worker        its option `retry`
//   5. Graphile Worker   exp(attempt) seconds: queue/settle/retry-policy.ts
import { types } from "node:util";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { policyNameOf } from "../../domain/job-flags.ts";
import { BY_FORMULA, type NextAttempt } from "../../queue/settle/fail.ts";
import { retryDelayMs } from "../../queue/settle/retry-policy.ts";
import { type BackOffTarget, MAX_DELAY_MS, outcomeOf } from "./outcomes.ts";
import type { RetryPolicies, RetryPolicy } from "./retry.ts";
import type { TaskJob } from "./task-job.ts";

const NEVER: NextAttempt = { kind: "never" };

/** A job requests that all jobs of `target` wait. */
export interface BackOffRequest {
  readonly target: BackOffTarget;
  readonly delayMs: number;
  readonly reason: string;
  readonly job: TaskJob;
}

/** A worker's retry policies. */
export class RetryRules {
  readonly #default: RetryPolicy | undefined;
  readonly #named: RetryPolicies;
  readonly #logger: Logger;
  readonly #backOff: (request: BackOffRequest) => void;
  /** Names of policies that jobs use and this worker lacks. Each name is logged once. */
  readonly #missing = new Set<string>();

  constructor(
    byDefault: RetryPolicy | undefined,
    named: RetryPolicies,
    logger: Logger,
    backOff: (request: BackOffRequest) => void = () => {},
  ) {
    this.#backOff = backOff;
    this.#default = byDefault;
    this.#named = named;
    this.#logger = logger;
  }

  /** Returns what follows the attempt, and begins a requested back-off. Never throws. */
  next(error: Error, job: TaskJob, ofTask: RetryPolicy | undefined): NextAttempt {
    const outcome = outcomeOf(error);
    if (outcome?.kind === "permanent") return NEVER;
    if (outcome?.kind === "snooze") return outcome;
    if (outcome?.kind === "retry_after" && outcome.backOff !== null) {
      // The attempt does not count, so a delay of 0 would repeat the job at once and without end.
      const delayMs = outcome.delayMs || this.#usualDelayMs(error, job, ofTask);
      this.#backOff({ target: outcome.backOff, delayMs, reason: messageOf(error), job });
      return { kind: "snooze", delayMs };
    }
    // No attempt is left. The admin computes from run_at and the formula when the job failed.
    if (job.attempts >= job.maxAttempts) return BY_FORMULA;
    if (outcome?.kind === "retry_after" && outcome.delayMs !== null) {
      return { kind: "retry", delayMs: outcome.delayMs };
    }
    const policy = this.#policyOf(job) ?? ofTask ?? this.#default;
    return policy === undefined ? BY_FORMULA : this.#delay(policy, error, job);
  }

  /** The delay of the retry policy, or of the formula if the policy gives no delay above 0. */
  #usualDelayMs(error: Error, job: TaskJob, ofTask: RetryPolicy | undefined): number {
    const policy = this.#policyOf(job) ?? ofTask ?? this.#default;
    const next = policy === undefined ? BY_FORMULA : this.#delay(policy, error, job);
    const delayMs = next.kind === "retry" ? next.delayMs : null;
    return delayMs || retryDelayMs(job.attempts);
  }

  #policyOf(job: TaskJob): RetryPolicy | undefined {
    const name = policyNameOf(job.flags);
    if (name === undefined) return undefined;
    if (Object.hasOwn(this.#named, name)) return this.#named[name];
    if (this.#missing.size < MAX_NAMES && !this.#missing.has(name)) {
      this.#missing.add(name);
      this.#logger.warn(
        { retry: name, task: job.taskIdentifier },
        "this worker has no retry policy of that name (option retryPolicies): the policy of the task or of the worker is used",
      );
    }
    return undefined;
  }

  #delay(policy: RetryPolicy, error: Error, job: TaskJob): NextAttempt {
    let problem: string;
    try {
      const delayMs: unknown = policy(job.attempts, error, job);
      if (delayMs === false) return NEVER;
      if (typeof delayMs === "number" && delayMs >= 0 && delayMs <= MAX_DELAY_MS) {
        return { kind: "retry", delayMs };
      }
      // An async policy is invalid, but its rejection must not end the process.
      if (types.isPromise(delayMs)) delayMs.catch(() => {});
      problem = `it returned ${messageOf(delayMs).slice(0, 100)}, not milliseconds from 0 to ten years or false`;
    } catch (thrown) {
      problem = `it threw: ${messageOf(thrown)}`;
    }
    const fields = { job_id: job.id, task: job.taskIdentifier, problem };
    this.#logger.warn(fields, "a retry policy failed: Graphile Worker's delay is used");
    return BY_FORMULA;
  }
}

const MAX_NAMES = 1_000;
