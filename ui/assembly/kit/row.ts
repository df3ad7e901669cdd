/** A row of a list, a page of rows as it was read from an answer, and a column of a list. */
import { JsonReader } from "../lib/json-reader";
import { Node } from "../lib/node";
import { Model } from "../model/model";

export abstract class Row {
  /** `key`: an id or a name that identifies the row in every answer. It is part of the id of the row's element. */
  constructor(readonly key: string) {}

  /** The name of the row for screen readers, such as `job 12`. */
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

  /** The target of the row's Pause button and of the keys for pauses and limits, such as `queue mail`; empty: none. */
  get pauses(): string {
    return "";
  }

  /** Whether the target in `pauses` is paused now. */
  get isPaused(): bool {
    return false;
  }

  /** The key of the head of the group that the row belongs to; empty for a row that belongs to no group. */
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

  /**
   * Returns a cell (controls/table.ts) for each column, without the cell of the checkbox. If `spans` is true, returns
   * the content of the row's only cell.
   */
  abstract cells(m: Model): Node[];
}

export class RowPage {
  rows: Row[] = [];
  /** The scopes that have more rows on the server. So a row of such a scope may exist although `rows` lacks the row. */
  cut: Set<string> = new Set<string>();
  /** The cursor of the next page; empty: there is no next page. */
  next: string = "";
  /** The number of rows on all pages; i64.MIN_VALUE: the answer does not contain it. */
  count: i64 = i64.MIN_VALUE;
  /** Why the answer cannot be read; empty: the answer was read. */
  fault: string = "";
}

/** Ends the reading of an answer, and returns a page without rows. The caller adds the rows of the answer. */
export function rowPage(r: JsonReader, next: string | null): RowPage {
  r.end();
  const page = new RowPage();
  page.fault = r.error;
  page.next = next === null ? "" : next;
  return page;
}

/** A column: its CSS class `name`, its heading `head`, and the orders (`sort` of the API) that the heading selects. */
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
