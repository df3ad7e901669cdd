/** One row of a list, and a page of rows as it was read. */
import { Node } from "../lib/node";
import { Model } from "../model/model";

export abstract class Row {
  /** `key` identifies the row permanently: an id, a name. It is part of the row's DOM id. */
  constructor(readonly key: string) {}

  /** Its name for screen readers: `job 12`. */
  abstract get name(): string;

  /** Where it leads when it is opened; the empty string: nowhere. */
  get path(): string {
    return "";
  }

  /** Whether it can be selected; a head of a group can't. */
  get choosable(): bool {
    return true;
  }

  /** Whether it is one cell over all columns. */
  get spans(): bool {
    return false;
  }

  /** The worker whose locks its key `u` removes; the empty string: none. */
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

  /** The list within the list that it belongs to; rows of one scope follow each other in their order. */
  get scope(): string {
    return "";
  }

  /** Whether it only ends its scope, regardless of the rows before it. */
  get isEnd(): bool {
    return false;
  }

  /** More classes of its row. */
  get tone(): string {
    return "";
  }

  /** One cell for each column (`cell` of controls/table.ts), without the box to select it. */
  abstract cells(m: Model): Node[];
}

export class RowPage {
  rows: Row[] = [];
  /** The scopes that have more rows on the server: a row that is missing here may still exist. */
  cut: Set<string> = new Set<string>();
  /** The cursor of the next page, or the empty string. */
  next: string = "";
  /** How many rows there are on all pages; i64.MIN_VALUE: not in the answer. */
  count: i64 = i64.MIN_VALUE;
  /** Why it can't be read, or the empty string. */
  fault: string = "";
}

/** One column: its class, its head, and the sort orders of clicks on the head, as the API names them. */
export class Column {
  constructor(
    readonly name: string,
    readonly head: string,
    /** At the first press, and at the next; the empty string: none. */
    readonly sort: string,
    readonly reverse: string,
  ) {}
}
