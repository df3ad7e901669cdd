// Jobs that are added by their task, whose type determines the payload's type.
import type { JobSpec, JobToAdd } from "./job-spec.ts";
import type { RawJson } from "./payload.ts";

/** A task of defineTask() or defineBatchTask(): an identifier, and the payload type of its handler. */
export interface TaskLike<Payload> {
  readonly identifier: string;
  readonly kind?: "single" | "batch" | "graphile";
  // Method syntax and a context of type never, so that every task with this payload is assignable.
  handle(payload: Payload, context: never): unknown;
}

/** A missing payload is stored as `{}`: true if the task's type allows it. */
export type MayBeLeftOut<Payload> = undefined extends Payload
  ? true
  : Record<never, never> extends Payload
    ? true
    : false;

/** The arguments of addJob() after the task. `rawJson()` fits every task: its text is not checked. */
export type JobArguments<Payload> =
  MayBeLeftOut<Payload> extends true
    ? [payload?: Payload | RawJson, spec?: JobSpec]
    : [payload: Payload | RawJson, spec?: JobSpec];

/** One job of a batch, given by its task. The payload is optional if the task's type allows `{}`. */
export type JobOfTask<Payload> = {
  readonly task: TaskLike<Payload>;
  readonly spec?: JobSpec | undefined;
} & (MayBeLeftOut<Payload> extends true
  ? { readonly payload?: NoInfer<Payload> | RawJson }
  : { readonly payload: NoInfer<Payload> | RawJson });

/** The compiler shows this for a call without a required payload. */
export interface PayloadIsMissing {
  readonly "the payload of this task is missing: addJob(task, payload)": never;
}

/** Adds a job of a task, with the payload that the task's type requires, or of an identifier, with any payload. */
export interface AddJob<Added> {
  // In this order, because the compiler shows the error of the last matching signature.
  (identifier: string, payload?: unknown, spec?: JobSpec): Promise<Added>;
  (task: PayloadIsMissing): Promise<Added>;
  <Payload>(task: TaskLike<Payload>, ...rest: JobArguments<Payload>): Promise<Added>;
}

/** Adds a list of jobs, each given by its task or by an identifier. */
export type AddJobs<Added> = <const Payloads extends readonly unknown[]>(
  jobs: {
    readonly [Place in keyof Payloads]: JobToAdd | JobOfTask<Payloads[Place]>;
  },
) => Promise<Added[]>;

/** Copies any number of jobs, given by identifiers or by tasks with one payload type. */
export type CopyJobs = <Payload = unknown>(
  jobs: Iterable<JobToAdd | JobOfTask<Payload>> | AsyncIterable<JobToAdd | JobOfTask<Payload>>,
) => Promise<number>;
