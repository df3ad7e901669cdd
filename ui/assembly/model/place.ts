/**
 * The place at each of the latest entries of the history: the scroll position, the focus, and what the page keeps
 * (selected rows, the current row, rows as they were). Back and Forward restore it.
 */

/** What a page keeps. A page that keeps something extends it. */
export class PageState {}

export class Place {
  constructor(
    /** The number of the entry, which the host assigns. */
    readonly entry: i32,
    readonly scroll: f64,
    /** The id of the element that had the focus. */
    readonly focus: string,
    readonly state: PageState | null,
  ) {}
}

/** The number of entries whose places are kept. */
const MAX_PLACES = 30;

export class Places {
  private list: Place[] = [];

  at(entry: i32): Place | null {
    for (let i = 0; i < this.list.length; i++) {
      if (this.list[i].entry === entry) return this.list[i];
    }
    return null;
  }

  keep(place: Place): void {
    for (let i = 0; i < this.list.length; i++) {
      if (this.list[i].entry === place.entry) this.list.splice(i--, 1);
    }
    this.list.push(place);
    if (this.list.length > MAX_PLACES) this.list.shift();
  }

  clear(): void {
    this.list = [];
  }
}
