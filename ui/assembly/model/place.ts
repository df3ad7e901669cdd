/**
 * A place belongs to one entry of the browser's history. It has the scroll position, the focus, and the state of the
 * page, for example the rows on screen, the selected rows and the current row. Back and Forward restore the place of
 * the entry to which they lead. Only the latest MAX_PLACES places are kept.
 */

/** The state of a page that is kept in a place. The class of each such state extends this class. */
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
