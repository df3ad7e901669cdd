// How an application says what a job does: a task identifier and a handler, typed.
import * as v from "valibot";
import { duration, strict, validate } from "../../base/validate.ts";
import { identifier as taskIdentifier } from "../../domain/job-spec.ts";
import type { TaskContext } from "./task-context.ts";

/**
 * Runs one job. Throwing, rejecting, or returning a non-empty string or an Error fails the attempt
 * with that as its last_error; anything else completes the job.
 */
export type TaskHandler<Payload, Extensions> = (
  payload: Payload,
  context: TaskContext<Extensions>,
) => unknown;

/**
 * Runs a batch: `items` is the job's payload, an array. Gives one result an item, in order; an item
 * whose result is an Error, a non-empty string or a rejecting promise has failed. If some failed,
 * the payload is replaced by those items (their text byte for byte) and the job is tried again.
 * Throwing or rejecting fails the whole batch.
 */
export type BatchHandler<Item, Extensions> = (
  items: readonly Item[],
  context: TaskContext<Extensions>,
) => BatchResults | Promise<BatchResults>;

/** One result for each item, in their order; undefined: all succeeded. */
export type BatchResults = readonly unknown[] | undefined;

/** Options of a task. */
export interface TaskOptions {
  /** Fails an attempt that takes longer, milliseconds, and aborts its signal. Default: none. */
  readonly timeoutMs?: number | undefined;
}

/** What a worker can do: made by defineTask() or defineBatchTask(). */
export interface Task<Payload = unknown, Extensions = unknown> extends TaskOptions {
  readonly identifier: string;
  /** How what its handler returns is judged; `graphile`: as Graphile Worker does, for tasks from files. */
  readonly kind: "single" | "batch" | "graphile";
  // Method syntax keeps tasks of different payloads assignable to one list.
  handle(payload: Payload, context: TaskContext<Extensions>): unknown;
}

/**
 * A task of single jobs; `identifier` (1–128 characters) is what their rows name it by. Give the
 * payload's type: `defineTask<{ to: string }>("send", …)`. Throws InputError with everything that is wrong with it.
 */
export function defineTask<Payload = unknown, Extensions = unknown>(
  identifier: string,
  handler: TaskHandler<Payload, Extensions>,
  options: TaskOptions = {},
): Task<Payload, Extensions> {
  validate(taskSchema, { identifier, handler, options });
  return Object.freeze({
    ...options,
    identifier,
    kind: "single",
    handle: handler,
  });
}

/**
 * A task whose payload is an array of items that can succeed one by one. Give the item's type:
 * `defineBatchTask<{ user: number }>("notify", …)`. Throws InputError with everything that is wrong.
 */
export function defineBatchTask<Item = unknown, Extensions = unknown>(
  identifier: string,
  handler: BatchHandler<Item, Extensions>,
  options: TaskOptions = {},
): Task<readonly Item[], Extensions> {
  validate(taskSchema, { identifier, handler, options });
  return Object.freeze({
    ...options,
    identifier,
    kind: "batch",
    handle: handler,
  });
}

const taskSchema = strict({
  identifier: taskIdentifier,
  handler: v.function("must be a function"),
  options: strict({
    timeoutMs: v.optional(duration),
  }),
});
