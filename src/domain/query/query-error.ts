// An error in a query, with its place in the query's text, so that clients can mark it while the query is typed.
import { InputError } from "../../base/errors.ts";
import type { Span } from "./query-tree.ts";

export class QueryError extends InputError {
  readonly at: number;
  readonly end: number;
  /** The text that should replace the query's text from `at` to `end`; null without a suggestion. */
  readonly suggestion: string | null;

  /** `query_too_wide`: the query is not wrong, but it exceeds a limit or would take too long to answer. */
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

/** Returns the error `query_too_wide` for the part `span` of a query. */
export function tooWide(span: Span, message: string): QueryError {
  return new QueryError(span, message, null, "query_too_wide");
}
