// What is wrong with a query, and where: for whoever marks it while somebody types.
import { InputError } from "../../base/errors.ts";
import type { Span } from "./query-tree.ts";

export class QueryError extends InputError {
  readonly at: number;
  readonly end: number;
  /** What to write in place of the marked part, where that is known. */
  readonly suggestion: string | null;

  /** `query_too_wide`: well written, but nobody could answer it in time. */
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

/** Beyond a limit. */
export function tooWide(span: Span, message: string): QueryError {
  return new QueryError(span, message, null, "query_too_wide");
}
