// The query parameters that the lists of queues, tasks, workers and cron entries share: search, sort, limit, cursor.
import { choice, text } from "../../../commands/declare/field.ts";
import { inQuery, pageSizeInQuery } from "../../wire/wire.ts";

export const MAX_LIMIT = 500;
const DEFAULT_LIMIT = 100;

/** Returns the parameters. The first of `sorts` is the default. `searched` describes the values that are searched. */
export function listQuery<const S extends readonly string[]>(sorts: S, searched: string) {
  return {
    search: inQuery(text(["Search", `text in ${searched}; empty: any`], 0, 256)),
    sort: inQuery(choice(["Sort", "the order; - is descending"], sorts), { default: sorts[0] }),
    limit: pageSizeInQuery(
      `rows on a page, ${DEFAULT_LIMIT} by default; larger numbers are reduced to the maximum`,
      MAX_LIMIT,
    ),
    cursor: inQuery(
      text(["Cursor", "next_cursor of the previous page; empty: the first page"], 0, 8_192),
    ),
  };
}

interface ListParameters<S> {
  readonly search?: string | undefined;
  readonly sort?: S | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export function pageRequest<S extends string>(
  { search = "", sort, limit = DEFAULT_LIMIT, cursor = "" }: ListParameters<S>,
  defaultSort: S,
) {
  return {
    search: search.trim(),
    sort: sort ?? defaultSort,
    limit,
    cursor: cursor === "" ? null : cursor,
  };
}
