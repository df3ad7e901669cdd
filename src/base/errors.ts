// Every expected failure, with a code for programs and a message for people. The command line turns it into
// one line and an exit status, the admin into an HTTP status.
import { types } from "node:util";

/** Codes are public: HTTP bodies carry them and callers compare them. */
export type ErrorCode =
  | "bad_input"
  | "query_too_wide"
  | "not_found"
  | "configuration"
  | "database_unreachable"
  | "database_timeout"
  | "database_busy"
  | "database_error"
  | "outcome_unknown"
  | "busy"
  | "read_only_server"
  | "too_large"
  | "schema_missing"
  | "schema_unsupported"
  | "embedded_server"
  | "listen"
  | "aborted"
  | "timeout"
  | "conflict"
  | "extension_missing";

/** Shared by all copies of the library: a task's package is another copy than the executable's. */
const KIND = Symbol.for("pg-job-worker.error");

/**
 * An expected failure. `message` includes what to do next; `cause` is the original error. `instanceof` also
 * matches errors of another copy of the library.
 */
export class WorkerError extends Error {
  readonly code: ErrorCode;

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this method
    return this === WorkerError ? kindOf(value) !== undefined : hasInstance.call(this, value);
  }

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "WorkerError";
    this.code = code;
  }

  /** @internal */
  get [KIND](): string {
    return "WorkerError";
  }
}

const kindOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? (value as { [KIND]?: unknown })[KIND] : undefined;

/** The default behaviour of `instanceof`, for subclasses of this copy. */
const { [Symbol.hasInstance]: hasInstance } = Function.prototype;

/** One problem of an input. `path` is the field as the caller wrote it, such as `ids[2]`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  /** The part of the field's text that is wrong, in UTF-16 units: from `at` up to, but not including, `end`. */
  readonly at?: number;
  readonly end?: number;
  /** A replacement for that part, or null if there is none. */
  readonly suggestion?: string | null;
}

/** Invalid input. All problems are reported at once, and nothing has been changed. */
export class InputError extends WorkerError {
  declare readonly code: "bad_input" | "query_too_wide";
  readonly problems: readonly Problem[];

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this method
    return this === InputError ? kindOf(value) === "InputError" : hasInstance.call(this, value);
  }

  constructor(
    problems: readonly Problem[] | string,
    code: "bad_input" | "query_too_wide" = "bad_input",
  ) {
    const list = typeof problems === "string" ? [{ path: "", message: problems }] : problems;
    super(code, list.map(sentence).join("; "));
    this.name = "InputError";
    this.problems = list;
  }

  /** @internal */
  override get [KIND](): string {
    return "InputError";
  }
}

function sentence(problem: Problem): string {
  return problem.path === "" ? problem.message : `${problem.path}: ${problem.message}`;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map(messageOf).join("; ");
  }
  if (isError(error)) return error.message;
  try {
    return String(error);
  } catch {
    return Object.prototype.toString.call(error); // such as an object without a prototype
  }
}

/** Removes Node's advice to use one of its own options, which the executable does not have. */
export function withoutNodeHint(message: string): string {
  return message.replace(/; if the root CA is installed.*$/s, "");
}

/** The thrown value if it is an Error; otherwise an Error with its text. */
export function errorOf(thrown: unknown): Error {
  return isError(thrown) ? thrown : new Error(messageOf(thrown));
}

/** True for an Error of any realm (Jest runs tests in one of their own). A proxy may throw even on this check. */
export function isError(value: unknown): value is Error {
  try {
    return types.isNativeError(value) || value instanceof Error;
  } catch {
    return false;
  }
}

/** The `code` of anything that was thrown: SQLSTATE from PostgreSQL, errno name from the system. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
