/** One row of a list, a page of rows as it was read, and a column. */
import { JsonReader } from "../lib/json-reader";
import { Node } from "../lib/node";
import { Model } from "../model/model";

export abstract class Row {
  /** `key` identifies the row in all answers: an id, a name. It is part of the row's DOM id. */
  constructor(readonly key: string) {}

  /** The name for screen readers: `job 12`. */
  abstract get name(): string;

  /** The address that the row opens; empty: none. */
  get path(): string {
    return "";
  }

  /** Whether the row can be selected. The head of a group and the link to more rows cannot. */
  get isSelectable(): bool {
    return true;
  }

  /** Whether the row has one cell over all columns. */
  get spans(): bool {
    return false;
  }

  /** The worker to unlock with the row's button, or with the key `u` while the row is the current one; empty: none. */
  get unlocks(): string {
    return "";
  }

  /** The target of the row's Pause button and of the keys that set a pause or a limit: `queue mail`; empty: none. */
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

  /** Whether it is the last row of its scope and shows no data, such as a link to more rows. */
  get isEnd(): bool {
    return false;
  }

  /** Further CSS classes of the row's element. */
  get tone(): string {
    return "";
  }

  /**
   * Returns a cell (controls/table.ts) for each column, without the checkbox. If the row `spans`, returns the content
   * of its one cell.
   */
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
    /** The order after the first click on the heading; empty: none. */
    readonly sort: string,
    /** The order after the second click on the heading; empty: none. */
    readonly reverse: string,
  ) {}
}
