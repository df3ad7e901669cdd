/**
 * Where one was at each entry of the history: how far scrolled, what had the focus, and what the page
 * keeps of itself (selected rows, the current row, rows as they were). Back brings it all back.
 */

/** What a page keeps of itself; each kind of page extends it. */
export class Kept {}

export class Place {
  constructor(
    /** The entry's number, which the host gives it. */
    readonly entry: i32,
    readonly scroll: f64,
    /** The id of what had the focus. */
    readonly focus: string,
    readonly kept: Kept | null,
  ) {}
}

/** Older ones are forgotten. */
const MOST_PLACES = 30;

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
    if (this.list.length > MOST_PLACES) this.list.shift();
  }

  clear(): void {
    this.list = [];
  }
}
