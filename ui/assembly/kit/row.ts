/** One row of a list, and a page of rows as it was read. */
import { Node } from "../lib/node";
import { Model } from "../model/model";

export abstract class Row {
  /** `key` identifies the row permanently: an id, a name. It is part of the row's DOM id. */
  constructor(readonly key: string) {}

  /** The name for screen readers: `job 12`. */
  abstract get name(): string;

  /** The address that it opens; empty: none. */
  get path(): string {
    return "";
  }

  /** Whether it can be selected. The head of a group cannot. */
  get choosable(): bool {
    return true;
  }

  /** Whether it is one cell over all columns. */
  get spans(): bool {
    return false;
  }

  /** The worker that its key `u` unlocks; empty: none. */
  get unlocks(): string {
    return "";
  }

  /** What its key `p` pauses or resumes: `queue mail`; and whether it is paused. */
  get pauses(): string {
    return "";
  }

  get isPaused(): bool {
    return false;
  }

  /** The list within the list that it belongs to. Rows of one scope are consecutive, in their own order. */
  get scope(): string {
    return "";
  }

  /** Whether it is the end of its scope, whichever rows precede it. */
  get isEnd(): bool {
    return false;
  }

  /** More classes for its element. */
  get tone(): string {
    return "";
  }

  /** Returns a cell for each column (`cell` of controls/table.ts), without the checkbox. */
  abstract cells(m: Model): Node[];
}

export class RowPage {
  rows: Row[] = [];
  /** The scopes that have more rows on the server. A row of such a scope that is missing here may still exist. */
  cut: Set<string> = new Set<string>();
  /** The cursor of the next page, or the empty string. */
  next: string = "";
  /** The number of rows on all pages; i64.MIN_VALUE: not in the answer. */
  count: i64 = i64.MIN_VALUE;
  /** Why the answer cannot be read; empty: it can. */
  fault: string = "";
}

/** A column: its class, its heading, and the orders that clicks on the heading select, as the API names them. */
export class Column {
  constructor(
    readonly name: string,
    readonly head: string,
    /** The order after the first click, and that after the next; empty: none. */
    readonly sort: string,
    readonly reverse: string,
  ) {}
}
