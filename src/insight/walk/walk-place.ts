// The place that a walk (walk.ts) has reached. The next step or the next page continues there.
import type { Segment, SegmentOrder } from "./order.ts";

export interface WalkPlace {
  /** The index of the segment in the order. */
  readonly segment: number;
  readonly position: Position;
}

/** Where a walk continues. A null `after` or `last`: at the beginning. */
export type Position =
  | { readonly kind: "ids"; readonly after: string | null }
  | { readonly kind: "index"; readonly last: Row | null }
  /** Too many jobs have the sort key `key`, so the walk reads the jobs with this key by id. */
  | { readonly kind: "tie"; readonly key: readonly string[]; readonly after: string | null }
  | ({ readonly kind: "rank" } & Round);

/** The place of a row in the order. */
export interface Row {
  readonly key: readonly string[];
  readonly id: string;
}

/**
 * The progress of a round: a walk over all jobs by id that finds the best rows for one page. The best rows are the
 * first rows after `floor` in the order.
 */
export interface Round {
  /** The last id that was read; null: none yet. */
  readonly after: string | null;
  /** The last row of the previous page; null: this page is the first. */
  readonly floor: Row | null;
  /** Rows after `bound` are left out. null: the best rows have not filled the page yet. */
  readonly bound: Row | null;
  /** The ids of the best rows so far. */
  readonly best: readonly string[];
}

/** Returns the place at the beginning of a segment. */
export function beginningOf({ way }: Segment, segment: number): WalkPlace {
  switch (way.kind) {
    case "ids":
      return { segment, position: { kind: "ids", after: null } };
    case "index":
      return { segment, position: { kind: "index", last: null } };
    case "rank":
      return { segment, position: nextRound(null) };
    default:
      return way satisfies never;
  }
}

export function nextRound(floor: Row | null): Position {
  return { kind: "rank", after: null, floor, bound: null, best: [] };
}

/** Returns the position that continues after `row`. */
export function positionAfter(row: Row, position: Position): Position {
  switch (position.kind) {
    case "ids":
      return { kind: "ids", after: row.id };
    case "index":
      return { kind: "index", last: row };
    case "tie":
      return { ...position, after: row.id };
    case "rank":
      return nextRound(row);
    default:
      return position satisfies never;
  }
}

/**
 * Returns the position in the form that `way` needs; null if the position is not valid in this segment. If an index was
 * created or dropped since the previous page, the forms can differ.
 */
export function adaptPosition(position: Position, way: SegmentOrder): Position | null {
  if (way.kind === "ids") return position.kind === "ids" ? position : null;
  const keys = way.kind === "index" ? way.keys : [way.key];
  const isRow = ({ key }: Pick<Row, "key">) =>
    key.length === keys.length && keys.every(({ isValid }, at) => isValid(key[at] ?? ""));
  switch (position.kind) {
    case "ids":
      return null;
    case "tie":
      return way.kind === "index" && isRow(position) ? position : null;
    case "index":
      if (position.last !== null && !isRow(position.last)) return null;
      return way.kind === "index" ? position : nextRound(position.last);
    case "rank": {
      const { floor, bound } = position;
      if ((floor !== null && !isRow(floor)) || (bound !== null && !isRow(bound))) return null;
      return way.kind === "rank" ? position : { kind: "index", last: floor };
    }
    default:
      return position satisfies never;
  }
}
