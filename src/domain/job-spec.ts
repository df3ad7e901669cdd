// The options of a job to be added, and their checks.
import * as v from "valibot";
import { InputError } from "../base/errors.ts";
import { boundedList, checkEach, strict, validate } from "../base/validate.ts";
import { flagsOf } from "./job-flags.ts";
import {
  type ResolvedThrottle,
  resolveThrottle,
  type Throttle,
  throttleSchema,
} from "./limits/throttle.ts";
import { moment } from "./moment.ts";
import { payloadText } from "./payload.ts";
import {
  type Debounce,
  debounceSchema,
  KEY_OPTIONS,
  keyProblems,
  type Unique,
  uniqueKey,
  uniqueSchema,
} from "./unique.ts";

export const jobKeyModes = ["replace", "preserve_run_at", "unsafe_dedupe"] as const;
/**
 * What addJob() does if another job has the same key, as Graphile Worker's `job_key_mode`. `replace`: overwrites that
 * job; if both payloads are lists, appends the new items. A job that is locked or failed is not overwritten: that job
 * loses its key and is not retried, and a new job is added. `preserve_run_at`: as `replace`, but a job whose `attempts`
 * is 0 keeps its `runAt`. `unsafe_dedupe`: adds nothing, even if that job is locked or failed.
 */
export type JobKeyMode = (typeof jobKeyModes)[number];

/**
 * What an add does with an existing job that has the same key. `unfinished`: as `unsafe_dedupe`, but a failed job loses
 * its key, and a new job is added. `debounce`: as `replace`, with the `runAt` that the option `debounce` determines.
 */
export const keyRules = [...jobKeyModes, "unfinished", "debounce"] as const;
export type KeyRule = (typeof keyRules)[number];

/** Options of a job to be added. */
export interface JobSpec {
  /** The named queue: its jobs run in order, one at a time if no limit allows more. 1–128 characters. Default: none. */
  readonly queueName?: string | undefined;
  /**
   * The earliest time at which the job may run: a Date, or RFC 3339 text with a zone. Default: now, by the database's
   * clock.
   */
  readonly runAt?: Date | string | undefined;
  /** The priority: a job with a lower number runs earlier. -32,768 to 32,767, default 0. */
  readonly priority?: number | undefined;
  /** The job key, which at most one job has. 1–512 characters. Default: none. */
  readonly jobKey?: string | undefined;
  /** What happens to an existing job with the same key; see JobKeyMode. Needs `jobKey`. Default `replace`. */
  readonly jobKeyMode?: JobKeyMode | undefined;
  /** The number of attempts after which the job fails for good, 1–32,767. Default 25. */
  readonly maxAttempts?: number | undefined;
  /** At most 64 flags. A worker with one of these flags in `forbiddenFlags` does not fetch the job. Default: none. */
  readonly flags?: readonly string[] | undefined;
  /**
   * The name of a retry policy in the workers' option `retryPolicies`, 1–100 characters. The policy replaces that of
   * the task. A worker without a policy of this name ignores the option. Stored as the flag `retry:NAME`.
   */
  readonly retry?: string | undefined;
  /**
   * The time after which the job fails for good: the job no longer starts, and a running attempt is aborted. Stored as
   * the flag `deadline:MILLISECONDS`. Only workers of this library obey the deadline, by the clocks of their machines.
   */
  readonly deadline?: Date | string | undefined;
  /** Derives the job key from the job's own values, so that equal jobs have the same key. Not with `jobKey`. */
  readonly unique?: Unique | undefined;
  /**
   * Replaces the waiting job with the same key. The job is due `waitMs` after the last add, but at most `maxWaitMs`
   * after the first add. After a failed attempt of the job, the next add counts as the first add. The times are by the
   * database's clock. Needs `jobKey`, or `unique` with `while: "waiting"`. Not with `runAt`.
   */
  readonly debounce?: Debounce | undefined;
  /** Only ThrottledSpec has this option, because an add with `throttle` returns a ThrottledAdd. */
  readonly throttle?: undefined;
}

/** A job to be added, with its task identifier. */
export interface JobToAdd {
  /** The task identifier, 1–128 characters. */
  readonly identifier: string;
  /** The payload, anything that JSON can hold. Default `{}`. */
  readonly payload?: unknown;
  /** The options of the job. */
  readonly spec?: JobSpec | undefined;
}

/** A job to be added, with a task object, which determines the payload's type. */
export interface JobByTask {
  readonly task: { readonly identifier: string };
  readonly payload?: unknown;
  readonly spec?: JobSpec | undefined;
}

/** Options of an add with `throttle`, which cannot be combined with `jobKey`, `unique` or `debounce`. */
export interface ThrottledSpec extends Omit<JobSpec, "throttle"> {
  /** Of equal jobs, at most one is added in a period. */
  readonly throttle: Throttle;
}

/** A job with any options, `throttle` among them. */
export type AnyJob = Omit<JobToAdd, "spec"> & {
  readonly spec?: JobSpec | ThrottledSpec | undefined;
};

/**
 * A checked job. The members from `identifier` to `flags` are the columns of the database's type `job_spec`, with null
 * for the database's default.
 */
export interface ResolvedJob {
  readonly identifier: string;
  readonly payload: string;
  readonly queueName: string | null;
  readonly runAt: string | null;
  readonly maxAttempts: number | null;
  readonly jobKey: string | null;
  readonly priority: number | null;
  readonly flags: readonly string[] | null;
  readonly keyRule: KeyRule;
  readonly debounce: Debounce | null;
  readonly throttle: ResolvedThrottle | null;
}

// PostgreSQL text cannot store U+0000, and half a surrogate pair would become another character.
const storable = v.check(
  (text: string) => !text.includes("\0") && text.isWellFormed(),
  "must not contain a NUL character or half a surrogate pair",
);

/** Checks a text of `least` to `longest` characters. `longest` counts code points, as the database does. */
export const boundedText = (least: number, longest: number) =>
  v.pipe(
    v.string("must be a string"),
    v.check((text) => {
      const length = text.length <= longest ? text.length : [...text].length;
      return length >= least && length <= longest;
    }, `must have ${least} to ${longest} characters`),
    storable,
  );

const integer = (least: number, most: number) =>
  v.pipe(
    v.number("must be a number"),
    v.check(
      (value) => Number.isInteger(value) && value >= least && value <= most,
      `must be a whole number from ${least} to ${most}`,
    ),
  );

/** A PostgreSQL smallint. */
export const smallint = integer(-32_768, 32_767);
/** The value of `max_attempts`, at least 1. */
export const attemptLimit = integer(1, 32_767);
export const attemptCount = integer(0, 32_767);

export const identifier = v.pipe(
  boundedText(1, 128),
  v.check((text) => text === "" || text.trim() !== "", "must not be blank"),
);
/** A job key. The table of jobs allows at most 512 characters. */
export const jobKey = boundedText(1, 512);

const specSchema = v.pipe(
  strict({
    queueName: v.optional(boundedText(1, 128)),
    runAt: v.optional(moment),
    priority: v.optional(smallint),
    jobKey: v.optional(jobKey),
    jobKeyMode: v.optional(v.picklist(jobKeyModes, `must be one of ${jobKeyModes.join(", ")}`)),
    maxAttempts: v.optional(attemptLimit),
    flags: v.optional(
      boundedList(
        boundedText(1, 128),
        "must be a list of strings",
        64,
        "must have at most 64 flags",
      ),
    ),
    retry: v.optional(boundedText(1, 100)),
    deadline: v.optional(moment),
    unique: v.optional(uniqueSchema),
    debounce: v.optional(debounceSchema),
    throttle: v.optional(throttleSchema),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const input = dataset.value;
    if (KEY_OPTIONS.every((name) => input[name] === undefined)) return;
    for (const { path: key, message } of keyProblems(input)) {
      const path = { type: "object", origin: "value", input, key, value: input[key] } as const;
      addIssue({ message, path: [path] });
    }
  }),
);

const jobSchema = strict({
  identifier,
  payload: v.optional(v.unknown()),
  spec: v.optional(specSchema, {}),
});

/** Whether only the payload of the job needs a check. */
function isPlain(job: JobToAdd, checked: ReadonlySet<string>): boolean {
  if (typeof job !== "object" || job === null || !checked.has(job.identifier)) return false;
  for (const name in job) if (name !== "identifier" && name !== "payload") return false;
  return true;
}

const PLAIN: Omit<ResolvedJob, "identifier" | "payload"> = {
  ...{ queueName: null, runAt: null, maxAttempts: null, jobKey: null, priority: null },
  ...({ flags: null, keyRule: "replace", debounce: null, throttle: null } as const),
};

type CheckedSpec = v.InferOutput<typeof specSchema>;

function keyRuleOf({ debounce, unique, runAt, jobKeyMode = "replace" }: CheckedSpec): KeyRule {
  if (debounce !== undefined) return "debounce";
  if (unique === undefined) return jobKeyMode;
  if (unique.while === "unfinished") return "unfinished";
  if (unique.while === "failed_too") return "unsafe_dedupe";
  return runAt === undefined ? "preserve_run_at" : "replace";
}

/** Checks a job. Throws InputError for invalid options or an invalid payload. */
export function resolveJob(job: AnyJob): ResolvedJob {
  const { identifier, payload: given, spec } = validate(jobSchema, job);
  const { unique, throttle, queueName = null } = spec;
  const payload = payloadText(given);
  return {
    identifier,
    payload,
    queueName,
    runAt: spec.runAt ?? null,
    maxAttempts: spec.maxAttempts ?? null,
    jobKey: spec.jobKey ?? (unique ? uniqueKey({ identifier, payload, queueName }, unique) : null),
    priority: spec.priority ?? null,
    flags: (spec.retry ?? spec.deadline) === undefined ? (spec.flags ?? null) : flagsOf(spec),
    keyRule: keyRuleOf(spec),
    debounce: spec.debounce ?? null,
    throttle: throttle ? resolveThrottle({ identifier, payload, queueName }, throttle) : null,
  };
}

/**
 * Checks the options of a job before an interceptor may replace the payload. If the job has `unique`, makes the job key
 * from the payload before the replacement. Throws InputError.
 */
export function jobForInterceptors(job: JobToAdd): JobToAdd {
  const { spec } = validate(jobSchema, job);
  if (spec.unique === undefined) return job;
  const jobKey = resolveJob(job).jobKey ?? undefined;
  return { ...job, spec: { ...job.spec, jobKey } };
}

/** Returns the identifier of a task, without a check. */
export function identifierOf(task: string | JobByTask["task"]): string {
  return typeof task === "object" && task !== null ? task.identifier : task;
}

/**
 * Returns the job with an identifier instead of a task. Throws InputError for an invalid task, or if the job has both.
 */
export function withIdentifier(job: JobToAdd | JobByTask): JobToAdd {
  if (typeof job !== "object" || job === null || !("task" in job)) return job;
  const { task, ...rest } = job;
  if (typeof task !== "object" || task === null) {
    throw new InputError([{ path: "task", message: "must be a task of defineTask()" }]);
  }
  if ("identifier" in rest) {
    throw new InputError([{ path: "identifier", message: "use either identifier or task" }]);
  }
  return { ...rest, identifier: task.identifier };
}

/** Takes the place of a job that an interceptor skipped, so that the problems of later jobs have the right index. */
export const SKIPPED: JobToAdd = { identifier: "" };

/** Checks jobs, and leaves out SKIPPED. `from`: the index of the first job in paths of problems (`jobs[3].spec`). */
export function resolveJobs(jobs: readonly (JobToAdd | JobByTask)[], from = 0): ResolvedJob[] {
  const resolved: ResolvedJob[] = [];
  const checked = new Set<string>();
  checkEach("jobs", jobs, from, (given) => {
    if (given === SKIPPED) return;
    const job = withIdentifier(given);
    if (isPlain(job, checked)) {
      const { identifier, payload } = job;
      resolved.push({ identifier, payload: payloadText(payload), ...PLAIN });
    } else {
      const resolvedJob = resolveJob(job);
      checked.add(resolvedJob.identifier);
      resolved.push(resolvedJob);
    }
  });
  return resolved;
}
