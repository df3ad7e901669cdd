// The expected errors, and functions that read the message and the code of any thrown value.
import { types } from "node:util";

/** The code of an expected error. The library's guide lists all codes and their meanings under Errors. */
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

/**
 * The key of an error's kind: `WorkerError` or `InputError`. A task may import another copy of this library than the
 * program does. All copies have the same key, so each copy recognises errors of the others.
 */
const KIND = Symbol.for("pg-job-worker.error");

/**
 * An expected error. Its message names what is wrong and what to do. `instanceof` also recognises errors of
 * another copy of this library.
 */
export class WorkerError extends Error {
  /** The code of the error, for programs. */
  readonly code: ErrorCode;

  /** Whether `value` is a WorkerError of any copy of this library. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this method
    return isOwn(this) ? kindOf(value) !== undefined : hasInstance.call(this, value);
  }

  /** Creates an error. `cause` is the underlying error. */
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

/**
 * Whether the class is WorkerError or InputError itself. If the body of a class referred to the class itself, the
 * bundler would rename the class (to `_WorkerError`), and uncaught errors would show that name.
 */
const isOwn = (one: { readonly prototype: object }): boolean => Object.hasOwn(one.prototype, KIND);

/** JavaScript's own `instanceof`, for subclasses of WorkerError and InputError. */
const { [Symbol.hasInstance]: hasInstance } = Function.prototype;

/** One problem of an input. */
export interface Problem {
  /** The field as the caller wrote it, such as `ids[2]`; empty for the whole input. */
  readonly path: string;
  /** What is wrong with the field. */
  readonly message: string;
  /** The start of the wrong part within the field's text, in UTF-16 units. */
  readonly at?: number;
  /** The end of the wrong part, exclusive. */
  readonly end?: number;
  /** The text to use instead of the wrong part; null without a suggestion. */
  readonly suggestion?: string | null;
}

/**
 * The error of a call with invalid input. The call has changed nothing. Exception: copyJobs() on a client without a
 * transaction may have added jobs.
 */
export class InputError extends WorkerError {
  /** `bad_input`, or `query_too_wide` for a query that exceeds a limit or could not be answered in time. */
  declare readonly code: "bad_input" | "query_too_wide";
  /** The problems of the input. The list is never empty. */
  readonly problems: readonly Problem[];

  /** Whether `value` is an InputError of any copy of this library. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this method
    return isOwn(this) ? kindOf(value) === "InputError" : hasInstance.call(this, value);
  }

  /** Creates an error of these problems, or of one problem without a path. `code` defaults to `bad_input`. */
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

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof AggregateError && error.message === "") {
      return error.errors.map(messageOf).join("; ");
    }
    return String(isError(error) ? error.message : error);
  } catch {
    return UNSHOWN;
  }
}

/** The text for a value that throws when it is read, such as a proxy. */
export const UNSHOWN = "a value that cannot be shown";

/** Returns the message without Node's advice to set a command line option, which the executable does not have. */
export function withoutNodeHint(message: string): string {
  return message.replace(/; if the root CA is installed.*$/s, "");
}

/** Returns the thrown value if it is an Error; otherwise an Error with its text. */
export function errorOf(thrown: unknown): Error {
  return isError(thrown) ? thrown : new Error(messageOf(thrown));
}

/** Whether the value is an Error of any realm. (Jest runs tests in a realm of their own.) */
export function isError(value: unknown): value is Error {
  try {
    return types.isNativeError(value) || value instanceof Error;
  } catch {
    return false;
  }
}

/** Returns the `code` of a thrown value, such as an ErrorCode, an SQLSTATE or an errno name. */
export function codeOf(error: unknown): string | undefined {
  try {
    const { code } = Object(error) as { readonly code?: unknown };
    return typeof error === "object" && typeof code === "string" ? code : undefined;
  } catch {
    return undefined; // A proxy may refuse to be read.
  }
}

/**
 * Whether the error means that the database is unreachable or accepts no writes. An outage is already logged elsewhere,
 * so a caller need not log it as a warning.
 */
export const isOutage = (error: unknown): boolean =>
  ["database_unreachable", "read_only_server"].includes(codeOf(error) ?? "");
