// An error in a query and its place, for clients that mark it while it is typed.
import { InputError } from "../../base/errors.ts";
import type { Span } from "./query-tree.ts";

export class QueryError extends InputError {
  readonly at: number;
  readonly end: number;
  /** A replacement for the marked part, or null. */
  readonly suggestion: string | null;

  /** `query_too_wide`: the syntax is right, but the query cannot be answered in time. */
  constructor(
    { at, end }: Span,
    message: string,
    suggestion: string | null = null,
    code: "bad_input" | "query_too_wide" = "bad_input",
  ) {
    super([{ path: "q", message, at, end, suggestion }], code);
    this.name = "QueryError";
    this.at = at;
    this.end = end;
    this.suggestion = suggestion;
  }
}

/** Returns the error for a query that exceeds a limit. */
export function tooWide(span: Span, message: string): QueryError {
  return new QueryError(span, message, null, "query_too_wide");
}
