// Defines tasks.
import * as v from "valibot";
import { count, duration, strict, validate } from "../../base/validate.ts";
import { identifier as taskIdentifier } from "../../domain/job-spec.ts";
import { type RetryPolicy, retryPolicy } from "./retry.ts";
import type { TaskContext } from "./task-context.ts";

/**
 * A function that runs one job. The attempt fails when the function throws or rejects, or when it returns or resolves
 * to an Error or a non-empty string. The error is stored as `last_error`. Any other result completes the job. The
 * errors Snooze, RetryAfter and PermanentFailure have effects of their own.
 */
export type TaskHandler<Payload, Extensions> = (
  payload: Payload,
  context: TaskContext<Extensions>,
) => unknown;

/**
 * A function that runs a job whose payload is an array of items. It returns one result for each item, in order. An
 * item has failed if its result is an Error, a non-empty string, a promise of one of these, or a promise that rejects.
 * If the function throws or rejects, all items have failed. If only some items have failed, the attempt fails, and the
 * next attempt gets a payload with only these items, unchanged.
 */
export type BatchHandler<Item, Extensions> = (
  items: readonly Item[],
  context: TaskContext<Extensions>,
) => BatchResults | Promise<BatchResults>;

/** The results of a batch, one for each item in order; undefined when all succeeded. */
export type BatchResults = readonly unknown[] | undefined;

/** Options of a task. */
export interface TaskOptions {
  /**
   * The time limit of an attempt, in milliseconds. After this time, the attempt fails, and its signal aborts. Default:
   * the worker's `timeoutMs`.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The policy for the delay before the next attempt: exponential(), fixed() or a function of your own. A policy that a
   * job names has precedence. Default: the worker's `retry`, or if the worker has none, Graphile Worker's delay:
   * exp(attempt) seconds, which grows up to the tenth attempt.
   */
  readonly retry?: RetryPolicy | undefined;
  /**
   * The maximum number of jobs of the task that one worker runs at once, 1–10,000. Default: no limit.
   * `utils.setLimit()` sets a limit over all workers.
   */
  readonly concurrency?: number | undefined;
}

/** A task. Created by defineTask(), defineBatchTask() and defineTransactionalTask(). */
export interface Task<Payload = unknown, Extensions = unknown> extends TaskOptions {
  /** The task identifier, by which jobs name their task. 1–128 characters. */
  readonly identifier: string;
  /**
   * How the handler's result is read. `single`: see TaskHandler; `batch`: see BatchHandler; `graphile`: as in Graphile
   * Worker, for tasks in files.
   */
  readonly kind: "single" | "batch" | "graphile";
  // A method and not a property: its bivariant parameters let tasks with different payloads be in one list.
  /** The handler that runs a job. */
  handle(payload: Payload, context: TaskContext<Extensions>): unknown;
}

/**
 * Defines a task that runs single jobs. The type argument is the payload's type:
 * `defineTask<{ to: string }>("send", …)`. Throws InputError with all problems.
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
 * Defines a task whose payload is an array of items (BatchHandler). The type argument is the item's type:
 * `defineBatchTask<{ user: number }>("notify", …)`. Throws InputError with all problems.
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
    retry: v.optional(retryPolicy),
    concurrency: v.optional(count(10_000)),
  }),
});
