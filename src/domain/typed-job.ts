// A job that is added by its task: what the payload may be follows from the task's type.
import type { JobSpec, JobToAdd } from "./job-spec.ts";
import type { RawJson } from "./payload.ts";

/** A task of defineTask() or defineBatchTask(): an identifier, and a payload by its handler's type. */
export interface TaskLike<Payload> {
  readonly identifier: string;
  readonly kind?: "single" | "batch" | "graphile";
  // Method syntax, and a context that nobody can give: any task of this payload fits.
  handle(payload: Payload, context: never): unknown;
}

/** A payload that is not given is stored as `{}`: true where that is one of the task's. */
export type MayBeLeftOut<Payload> = undefined extends Payload
  ? true
  : Record<never, never> extends Payload
    ? true
    : false;

/** What addJob() takes behind a task. `rawJson()` fits every task: its text is not looked at. */
export type JobArguments<Payload> =
  MayBeLeftOut<Payload> extends true
    ? [payload?: Payload | RawJson, spec?: JobSpec]
    : [payload: Payload | RawJson, spec?: JobSpec];

/** One job of a batch, by its task. The payload may be left out where `{}` is one of the task's. */
export type JobOfTask<Payload> = {
  readonly task: TaskLike<Payload>;
  readonly spec?: JobSpec | undefined;
} & (MayBeLeftOut<Payload> extends true
  ? { readonly payload?: NoInfer<Payload> | RawJson }
  : { readonly payload: NoInfer<Payload> | RawJson });

/** What the compiler shows for a call without the payload that the task needs. */
export interface PayloadIsMissing {
  readonly "the payload of this task is missing: addJob(task, payload)": never;
}

/** Adds a job of a task, whose type the payload must have, or of an identifier, with any payload. */
export interface AddJob<Added> {
  // In this order: of the signatures with as many arguments, the compiler shows the last one's error.
  (identifier: string, payload?: unknown, spec?: JobSpec): Promise<Added>;
  (task: PayloadIsMissing): Promise<Added>;
  <Payload>(task: TaskLike<Payload>, ...rest: JobArguments<Payload>): Promise<Added>;
}

/** Adds a list of jobs, each by its task or by an identifier. */
export type AddJobs<Added> = <const Payloads extends readonly unknown[]>(
  jobs: {
    readonly [Place in keyof Payloads]: JobToAdd | JobOfTask<Payloads[Place]>;
  },
) => Promise<Added[]>;

/** Copies any number of jobs, of identifiers or of tasks with one payload type. */
export type CopyJobs = <Payload = unknown>(
  jobs: Iterable<JobToAdd | JobOfTask<Payload>> | AsyncIterable<JobToAdd | JobOfTask<Payload>>,
) => Promise<number>;
