// Pages of lists that are small enough to be sorted in this process. A cursor has the sort key and the name of a page's
// last row, so the next page can skip or repeat only rows whose keys have changed since.
import { InputError } from "../../base/errors.ts";

/** A sort key. null comes last in both directions. */
export type SortKey = string | number | null;

export interface SortOrder<R> {
  readonly key: (row: R) => SortKey;
  readonly isDescending: boolean;
}

export interface PageRequest {
  /** The name of the order. */
  readonly sort: string;
  /** The maximum number of rows, at least 1. */
  readonly limit: number;
  readonly cursor: string | null;
}

export interface Page<R> {
  readonly rows: readonly R[];
  readonly nextCursor: string | null;
}

/** The place of a page's last row. */
export interface PageEnd {
  readonly sort: string;
  readonly key: SortKey;
  readonly name: string;
}

/** Returns a page of the rows. `nameOf` must return a different name for each row. */
export function pageOf<R>(
  rows: readonly R[],
  order: SortOrder<R>,
  nameOf: (row: R) => string,
  { sort, limit, cursor }: PageRequest,
): Page<R> {
  const placeOf = (row: R): PageEnd => ({ sort, key: finite(order.key(row)), name: nameOf(row) });
  const inOrder = (a: PageEnd, b: PageEnd) =>
    byKey(a.key, b.key, order.isDescending) || compare(a.name, b.name);
  const after = cursor === null ? null : decodePlace(cursor, sort);
  const placed = rows.map((row) => ({ row, place: placeOf(row) }));
  const left = after === null ? placed : placed.filter((one) => inOrder(one.place, after) > 0);
  left.sort((a, b) => inOrder(a.place, b.place));
  const shown = left.slice(0, limit);
  const last = shown.at(-1);
  const isMore = last !== undefined && left.length > shown.length;
  return {
    rows: shown.map(({ row }) => row),
    nextCursor: isMore ? encodePlace(last.place) : null,
  };
}

/** JSON cannot represent infinity. */
function finite(key: SortKey): SortKey {
  if (typeof key !== "number" || Number.isFinite(key)) return key;
  return key > 0 ? Number.MAX_VALUE : -Number.MAX_VALUE;
}

function byKey(a: SortKey, b: SortKey, isDescending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return isDescending ? compare(b, a) : compare(a, b);
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : Number(a > b);
}

const MAX_CURSOR_LENGTH = 8_192;

/** Returns the place as the text of a cursor. */
export function encodePlace({ sort, key, name }: PageEnd): string {
  return Buffer.from(JSON.stringify([sort, key, name])).toString("base64url");
}

/** Returns the place that a cursor contains. Throws InputError if the cursor is invalid or is for another order. */
export function decodePlace(text: string, sort: string): PageEnd {
  const [made, key, name] = parseCursor(text);
  const isKey = key === null || typeof key === "string" || typeof key === "number";
  if (typeof made !== "string" || typeof name !== "string" || !isKey) {
    throw new InputError([
      { path: "cursor", message: "is not a cursor of this list; start again without one" },
    ]);
  }
  if (made !== sort) {
    const message = `continues a list sorted by ${made}; start again without a cursor`;
    throw new InputError([{ path: "cursor", message }]);
  }
  return { sort, key, name };
}

function parseCursor(text: string): readonly unknown[] {
  if (text.length > MAX_CURSOR_LENGTH) return [];
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
