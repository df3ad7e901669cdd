// The types of the functions that add jobs.
import type { Job } from "./job.ts";
import type { AnyJob, JobSpec, JobToAdd, ThrottledSpec } from "./job-spec.ts";
import type { ThrottledAdd } from "./limits/throttled-job.ts";
import type { RawJson } from "./payload.ts";

/** A task, for functions that need only the identifier and the payload type. See Task. */
export interface TaskLike<Payload> {
  /** The task identifier. */
  readonly identifier: string;
  /** The kind of the task; see Task. */
  readonly kind?: "single" | "batch" | "graphile";
  /** The handler. It cannot be called through this type. */
  // Method syntax and the context type `never` make every task with this payload assignable.
  handle(payload: Payload, context: never): unknown;
}

/**
 * The arguments of addJob() that follow the task. `payload` may be omitted if `{}` or undefined is a valid payload of
 * the task. The result of rawJson() is not checked against the payload type.
 */
export type JobArguments<Payload> = undefined extends Payload
  ? [payload?: Payload | RawJson, spec?: JobSpec]
  : Record<never, never> extends Payload
    ? [payload?: Payload | RawJson, spec?: JobSpec]
    : [payload: Payload | RawJson, spec?: JobSpec];

/**
 * A job to be added, with its task instead of an identifier. `payload` may be omitted if `{}` or undefined is a valid
 * payload of the task.
 */
export type JobOfTask<Payload, Spec = JobSpec> = {
  /** The task. */
  readonly task: TaskLike<Payload>;
  /** The options of the job. Default: see JobSpec. */
  readonly spec?: Spec | undefined;
} & (JobArguments<Payload> extends [unknown, ...unknown[]]
  ? { readonly payload: NoInfer<Payload> | RawJson }
  : { readonly payload?: NoInfer<Payload> | RawJson });

/**
 * A type that no task matches. If addJob(task) lacks a payload that the task needs, the compiler's error contains the
 * name of the member.
 */
export interface PayloadIsMissing {
  /** Never present. */
  readonly "the payload of this task is missing: addJob(task, payload)": never;
}

/**
 * The type of addJob(). `Added` is the type of the result without `throttle`: Job, or `Job | null` where an interceptor
 * can skip the job.
 */
export interface AddJob<Added> {
  // The order matters: if no signature matches, the compiler shows the error of the last signature that takes as many
  // arguments as the call has.
  /**
   * Adds a job, unless an equal job was added within the period of `throttle`. Resolves to
   * `{ isThrottled, until, job }`; if the add is throttled, `job` is null. Resolves to null if an interceptor skips the
   * job. Rejects with `extension_missing` until `worker migrate --with limits` has added the tables.
   */
  (
    identifier: string,
    payload: unknown,
    spec: ThrottledSpec,
  ): Promise<ThrottledAdd | Exclude<Added, Job>>;
  /** Like the preceding signature, but with a task. */
  <Payload>(
    task: TaskLike<Payload>,
    payload: NoInfer<Payload> | RawJson,
    spec: ThrottledSpec,
  ): Promise<ThrottledAdd | Exclude<Added, Job>>;
  /** Adds a job by a task identifier. The payload's type is not checked. */
  (identifier: string, payload?: unknown, spec?: JobSpec): Promise<Added>;
  /** Matches no task. The compiler's error shows what is missing in addJob(task). */
  (task: PayloadIsMissing): Promise<Added>;
  /** Adds a job by its task. The payload must have the task's payload type. */
  <Payload>(task: TaskLike<Payload>, ...rest: JobArguments<Payload>): Promise<Added>;
}

/** The type of addJobs(). */
export interface AddJobs<Added> {
  /** Adds jobs, each by its task or its identifier. */
  <const Payloads extends readonly unknown[]>(
    jobs: {
      readonly [Place in keyof Payloads]: JobToAdd | JobOfTask<Payloads[Place]>;
    },
  ): Promise<Added[]>;
  /** Adds jobs, some of which have `throttle`. For each job with `throttle`, the result contains a ThrottledAdd. */
  <const Payloads extends readonly unknown[]>(
    jobs: {
      readonly [Place in keyof Payloads]:
        | AnyJob
        | JobOfTask<Payloads[Place], JobSpec | ThrottledSpec>;
    },
  ): Promise<(Added | ThrottledAdd)[]>;
}

/**
 * The type of copyJobs(): adds any number of jobs, and resolves to the number of added jobs. All tasks in one call must
 * have the same payload type.
 */
export type CopyJobs = <Payload = unknown>(
  jobs: Iterable<JobToAdd | JobOfTask<Payload>> | AsyncIterable<JobToAdd | JobOfTask<Payload>>,
) => Promise<number>;
