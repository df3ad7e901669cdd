/** One row of a list, and a page of rows as it was read. */
import { JsonReader } from "../lib/json-reader";
import { Node } from "../lib/node";
import { Model } from "../model/model";

export abstract class Row {
  /** `key` identifies the row permanently: an id, a name. It is part of the row's DOM id. */
  constructor(readonly key: string) {}

  /** The name for screen readers: `job 12`. */
  abstract get name(): string;

  /** The address that the row opens; empty: none. */
  get path(): string {
    return "";
  }

  /** Whether it can be selected. The head of a group cannot. */
  get isSelectable(): bool {
    return true;
  }

  /** Whether the row has one cell over all columns. */
  get spans(): bool {
    return false;
  }

  /** The worker that the key `u` unlocks while this row is current; empty: none. */
  get unlocks(): string {
    return "";
  }

  /** The target that the key `p` pauses or resumes, such as `queue mail`; empty: none. */
  get pauses(): string {
    return "";
  }

  /** Whether the target in `pauses` is paused now. */
  get isPaused(): bool {
    return false;
  }

  /** The part of the list that the row belongs to, such as a group. Rows of one scope are consecutive. */
  get scope(): string {
    return "";
  }

  /** Whether it ends its scope without being a row of the data, such as a link to more rows. */
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

/** Ends the reading of an answer. Returns a page without rows yet, with the answer's fault if it cannot be read. */
export function rowPage(r: JsonReader, next: string | null): RowPage {
  r.end();
  const page = new RowPage();
  page.fault = r.error;
  page.next = next === null ? "" : next;
  return page;
}

/** A column: its class, its heading, and the orders that clicks on the heading select, as the API names them. */
export class Column {
  constructor(
    readonly name: string,
    readonly head: string,
    /** The orders after the first and after the second click on the heading; empty: none. */
    readonly sort: string,
    readonly reverse: string,
  ) {}
}
