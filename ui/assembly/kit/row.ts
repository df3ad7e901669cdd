/** A row of a list, a page of rows as it was read from an answer, and a column of a list. */
import { JsonReader } from "../lib/json-reader";
import { Node } from "../lib/node";
import { Model } from "../model/model";

export abstract class Row {
  /** `key`: an id or a name that identifies the row in every answer. */
  constructor(readonly key: string) {}

  /** The name of the row for screen readers, such as `job 12`. */
  abstract get name(): string;

  /** The address that the row opens; empty: none. */
  get path(): string {
    return "";
  }

  /** Whether the row can be selected. */
  get isSelectable(): bool {
    return true;
  }

  /** Whether the row has one cell over all columns. */
  get spans(): bool {
    return false;
  }

  /** The worker that the row's button and the key `u` unlock; empty: none. */
  get unlocks(): string {
    return "";
  }

  /** The target of the row's Pause button and of the keys for pauses and limits, such as `queue mail`; empty: none. */
  get pauses(): string {
    return "";
  }

  /** Whether the target in `pauses` is paused now. */
  get isPaused(): bool {
    return false;
  }

  /** The key of the head of the row's group; empty: no group. */
  get scope(): string {
    return "";
  }

  /** Whether the row is the last one of its scope and shows no data, such as a link to more rows. */
  get isEnd(): bool {
    return false;
  }

  /** Further CSS classes of the row's element. */
  get tone(): string {
    return "";
  }

  /** Returns a cell for each column. If `spans` is true, returns the content of the row's only cell. */
  abstract cells(m: Model): Node[];
}

export class RowPage {
  rows: Row[] = [];
  /** The scopes that have more rows on the server. */
  cut: Set<string> = new Set<string>();
  /** The cursor of the next page; empty: none. */
  next: string = "";
  /** The number of rows on all pages; i64.MIN_VALUE: unknown. */
  count: i64 = i64.MIN_VALUE;
  /** Why the answer cannot be read; empty: the answer was read. */
  fault: string = "";
}

/** Ends the reading of an answer, and returns a page to which the caller adds the rows. */
export function rowPage(r: JsonReader, next: string | null): RowPage {
  r.end();
  const page = new RowPage();
  page.fault = r.error;
  page.next = next === null ? "" : next;
  return page;
}

/** A column. `name`: its CSS class. The orders are values of the API's `sort`. */
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
