// Every failure that we expect: a code a program can test, a sentence a person can act on.
// The command line turns it into one line and an exit status, the admin into an HTTP status.

/** Codes are part of the public interface: HTTP bodies carry them, callers may test them. */
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
  | "conflict";

/** An expected failure. `message` says what to do next; `cause` keeps what was underneath. */
export class WorkerError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "WorkerError";
    this.code = code;
  }
}

/** One thing wrong with an input; `path` is the field as the user wrote it, such as `ids[2]`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  /** Where in the field's text, in UTF-16 units: from `at` up to, not including, `end`. */
  readonly at?: number;
  readonly end?: number;
  /** What to write in place of that part; null = nobody knows. */
  readonly suggestion?: string | null;
}

/** Refused input. All problems are reported at once and nothing has been changed. */
export class InputError extends WorkerError {
  declare readonly code: "bad_input" | "query_too_wide";
  readonly problems: readonly Problem[];

  constructor(
    problems: readonly Problem[] | string,
    code: "bad_input" | "query_too_wide" = "bad_input",
  ) {
    const list = typeof problems === "string" ? [{ path: "", message: problems }] : problems;
    super(code, list.map(sentence).join("; "));
    this.name = "InputError";
    this.problems = list;
  }
}

function sentence(problem: Problem): string {
  return problem.path === "" ? problem.message : `${problem.path}: ${problem.message}`;
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map(messageOf).join("; ");
  }
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    return Object.prototype.toString.call(error); // such as an object without a prototype
  }
}

/** Of a certificate: without Node's advice on an option of its own, which the executable does not have. */
export function withoutNodeHint(message: string): string {
  return message.replace(/; if the root CA is installed.*$/s, "");
}

/** What was thrown, if it is an Error, or else one that says it. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
}

/** The `code` of anything that was thrown: SQLSTATE from PostgreSQL, errno name from the system. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
