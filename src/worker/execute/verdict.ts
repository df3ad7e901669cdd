// Determines an attempt's result from the value that the handler returned or threw.
import { inspect } from "node:util";
import { isError, UNSHOWN } from "../../base/errors.ts";
import { jsonElements } from "../../base/json-members.ts";
import { JobCancelled, outcomeOf } from "../task/outcomes.ts";
import type { BatchResults, Task } from "../task/task.ts";
import type { FetchedJob } from "./fetched-job.ts";

/**
 * The result of an attempt: null if the attempt succeeded. `payload`: the job's new payload, a JSON array of the items
 * that failed; null: the payload stays as it is.
 */
export type Result = null | { readonly error: Error; readonly payload: string | null };

/** Returns the attempt's result for a value that the handler returned. For a batch or a list, use judgePending(). */
export function judge(kind: Task["kind"], value: unknown): Result {
  // A task written for Graphile Worker fails by throwing.
  return kind === "graphile" ? null : judgeValue(value);
}

/** Like judge(), but also for a batch, and for a list from a task written for Graphile Worker. */
export async function judgePending(
  kind: Task["kind"],
  job: FetchedJob,
  value: unknown,
): Promise<Result> {
  if (kind === "batch") return judgeBatch(job, value as BatchResults);
  if (kind === "graphile" && Array.isArray(value)) return judgeGraphile(job, value);
  return judge(kind, value);
}

function judgeValue(value: unknown): Result {
  const isFailure = isError(value) || (typeof value === "string" && value !== "");
  return isFailure ? failure(value) : null;
}

async function judgeBatch(job: FetchedJob, results: BatchResults): Promise<Result> {
  if (results === undefined || results === null) return null;
  const items = jsonElements(job.payloadText.trim()) ?? [];
  // All promises are settled before the throw below, because an unhandled rejected promise would end the process.
  const settled = Array.isArray(results) ? await Promise.allSettled(results) : null;
  if (settled?.length !== items.length) {
    throw new Error(
      `a batch of ${items.length} needs as many results, in the same order; return undefined if all items succeeded`,
    );
  }
  return partial(items, settled, judgeValue);
}

/**
 * If the payload is a list of the same length, each item whose promise was rejected has failed. Otherwise, the attempt
 * has succeeded.
 */
async function judgeGraphile(job: FetchedJob, results: readonly unknown[]): Promise<Result> {
  const items = jsonElements(job.payloadText.trim()) ?? [];
  const settled = await Promise.allSettled(results);
  return items.length === results.length ? partial(items, settled, () => null) : null;
}

function partial(
  items: readonly string[],
  settled: readonly PromiseSettledResult<unknown>[],
  judgeItem: (value: unknown) => Result,
): Result {
  const errors: string[] = [];
  const left: string[] = [];
  for (const [index, one] of settled.entries()) {
    const result = one.status === "rejected" ? failure(one.reason) : judgeItem(one.value);
    if (result === null) continue;
    errors.push(result.error.message);
    left.push(items[index] as string);
  }
  if (left.length === 0) return null;
  const message = `${left.length} of ${items.length} items failed: ${[...new Set(errors)].join("; ")}`;
  return { ...failure(message), payload: `[${left.join(",")}]` };
}

/** Returns the result of a failed attempt. */
export function failure(thrown: unknown): { error: Error; payload: null } {
  return {
    error: isError(thrown) ? thrown : errorWithoutStack(textOf(thrown)),
    payload: null,
  };
}

/** Returns the error of a failed attempt: a JobCancelled if the job was cancelled, otherwise `error`. */
export function endError({ cancelled }: FetchedJob, error: Error): Error {
  if (cancelled === undefined || error === cancelled) return error;
  return new JobCancelled(cancelled.reason, cancelled.by, { cause: error });
}

/** Returns an error without stack frames, because these would only show this library. */
export function errorWithoutStack(message: string): Error {
  return Object.assign(new Error(message), { stack: message });
}

function textOf(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  try {
    return inspect(thrown);
  } catch {
    return UNSHOWN;
  }
}

/** Whether a value must be awaited: a promise, or a query builder that runs only when awaited. */
export function isThenable(value: unknown): boolean {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";
}

/** The maximum number of causes in `last_error`, because an error may be its own cause. */
const MAX_CAUSES = 8;

/** Returns the text for `last_error`: message and stack, and for an error of task/outcomes.ts also its cause's text. */
export function errorText(error: Error, causes = MAX_CAUSES): string {
  try {
    const { message, stack, cause } = error;
    if (typeof stack !== "string") return String(message);
    const text = stack.includes(message) ? stack : `${message}\n${stack}`;
    const isWrapped = causes > 0 && cause != null && outcomeOf(error) !== undefined;
    return isWrapped ? `${text}\nCaused by: ${errorText(failure(cause).error, causes - 1)}` : text;
  } catch {
    return UNSHOWN;
  }
}
