/**
 * A list of rows. merge() takes over a newer answer without moving a row: rows on screen change in place, removed rows
 * are only marked, and new rows are only counted until the user shows them. Selected rows stay selected when the page,
 * the tab or a filter changes.
 */
import { PageState } from "../model/place";
import { Row, RowPage } from "./row";

/** The state of a list that is stored with an entry of the browser's history. */
export class ListState extends PageState {
  /** The API's address from which the rows were read. */
  from: string = "";
  /** Further state of the page. */
  more: PageState | null = null;

  constructor(
    readonly rows: Row[],
    readonly next: string,
    readonly trail: string[],
    readonly current: i32,
    readonly selected: Map<string, Row>,
    readonly every: bool,
  ) {
    super();
  }
}

const MAX_PAGES = 1000;

export class List {
  rows: Row[] = [];
  next: string = "";
  /** The cursors of the pages up to the current page, in order. The cursor of the first page is empty. */
  trail: string[] = [""];
  /** The keys of rows on screen that were removed, according to the last answer. */
  gone: Set<string> = new Set<string>();
  /** The number of rows in the last answer that are not on screen. */
  news: i32 = 0;
  /** The index of the current row, the only row that the tab key reaches. */
  current: i32 = 0;
  /** The key of the row where a selection with shift begins. */
  private anchor: string = "";
  /** Whether the user has moved to the current row by a key, or has opened it. */
  isWalked: bool = false;
  selected: Map<string, Row> = new Map<string, Row>();
  /** Whether all matches are selected, including those on other pages. */
  every: bool = false;
  /** Whether merge(), not show(), received the last answer. */
  wasMerged: bool = false;
  private waiting: RowPage | null = null;

  /** Replaces the rows with those of an answer. */
  show(page: RowPage): void {
    const before = this.currentKey;
    this.rows = page.rows;
    this.next = page.next;
    this.wasMerged = false;
    this.gone.clear();
    this.news = 0;
    this.waiting = null;
    const at = this.indexOf(before);
    this.current = at >= 0 ? at : max(0, min(this.current, page.rows.length - 1));
    this.anchor = this.currentKey;
    this.refreshSelected();
  }

  /**
   * Merges a newer answer. A row that is missing in the answer counts as removed if the answer has all rows of the
   * row's scope (Row.scope), or if the answer still has a row with data that was below the missing row in this scope.
   * In other cases, the missing row may be on the next page.
   */
  merge(page: RowPage): void {
    const places = new Map<string, i32>();
    for (let i = 0; i < page.rows.length; i++) places.set(page.rows[i].key, i);
    this.gone.clear();
    this.wasMerged = true;
    const passed = new Set<string>();
    let shown = 0;
    for (let i = this.rows.length - 1; i >= 0; i--) {
      const row = this.rows[i];
      if (places.has(row.key)) {
        this.rows[i] = page.rows[places.get(row.key)];
        if (!row.isEnd) passed.add(row.scope);
        shown++;
      } else if (passed.has(row.scope) || !page.cut.has(row.scope)) this.gone.add(row.key);
    }
    this.news = page.rows.length - shown;
    this.waiting = this.news > 0 || this.gone.size > 0 ? page : null;
    // If the last row is neither in the answer nor removed, the rows on screen reach beyond the answer.
    const last = this.rows.length > 0 ? this.rows[this.rows.length - 1].key : "";
    if (places.has(last) || this.gone.has(last)) this.next = page.next;
    this.refreshSelected();
  }

  /** Replaces the rows of the scope `head` by the rows `below`, after the row whose key is `head`. */
  fill(head: string, below: Row[]): void {
    const current = this.currentKey;
    const rows: Row[] = [];
    for (let i = 0; i < this.rows.length; i++) {
      const row = this.rows[i];
      if (row.scope === head) continue;
      rows.push(row);
      if (row.key === head) for (let k = 0; k < below.length; k++) rows.push(below[k]);
    }
    this.rows = rows;
    this.current = max(0, this.indexOf(current));
  }

  /** Replaces the rows by those of the last merged answer. */
  showNews(): void {
    const page = this.waiting;
    if (page !== null) this.show(page);
  }

  get hasNews(): bool {
    return this.waiting !== null;
  }

  get currentKey(): string {
    return this.current < this.rows.length ? this.rows[this.current].key : "";
  }

  indexOf(key: string): i32 {
    for (let i = 0; i < this.rows.length; i++) if (this.rows[i].key === key) return i;
    return -1;
  }

  moveTo(at: i32): void {
    this.current = at;
    this.isWalked = true;
  }

  /** Makes the row nearest to the index `to` the current row, and returns this row; null without rows. */
  move(to: i32): Row | null {
    if (this.rows.length === 0) return null;
    this.moveTo(max(0, min(to, this.rows.length - 1)));
    return this.rows[this.current];
  }

  /** Selects or deselects a row. With `through`, the rows from the anchor to this row get the same state. */
  toggle(key: string, through: bool): void {
    const index = this.indexOf(key);
    if (index < 0) return;
    if (this.every) this.pickShown();
    const on = !this.selected.has(key);
    const anchor = through ? this.indexOf(this.anchor) : index;
    const from = anchor < 0 ? index : min(anchor, index);
    for (let i = from; i <= max(anchor, index); i++) this.set(this.rows[i], on);
    this.anchor = key;
    this.current = index;
  }

  get allSelected(): bool {
    if (this.every) return true;
    let count = 0;
    for (let i = 0; i < this.rows.length; i++) {
      if (!this.rows[i].isSelectable) continue;
      if (!this.selected.has(this.rows[i].key)) return false;
      count++;
    }
    return count > 0;
  }

  /** Selects all rows on screen; if all are selected, deselects them. */
  toggleAll(): void {
    const on = !this.allSelected;
    this.every = false;
    for (let i = 0; i < this.rows.length; i++) this.set(this.rows[i], on);
  }

  isSelected(key: string): bool {
    return this.every || this.selected.has(key);
  }

  clear(): void {
    this.every = false;
    this.selected.clear();
  }

  private pickShown(): void {
    this.clear();
    for (let i = 0; i < this.rows.length; i++) this.set(this.rows[i], true);
  }

  /** Turns to another list, or to another page of this list. The rows stay until the answer arrives. */
  turn(cursor: string, sameList: bool): void {
    if (!sameList) {
      this.trail = cursor.length > 0 ? ["", cursor] : [""];
      this.every = false;
    } else {
      const known = this.trail.indexOf(cursor);
      if (known >= 0) this.trail = this.trail.slice(0, known + 1);
      else this.trail.push(cursor);
      if (this.trail.length > MAX_PAGES) this.trail.shift();
    }
    this.current = 0;
    this.isWalked = false;
    this.gone.clear();
    this.news = 0;
    this.waiting = null;
  }

  get previous(): string {
    return this.trail.length > 1 ? this.trail[this.trail.length - 2] : "";
  }

  keep(): ListState {
    const selected = new Map<string, Row>();
    const all = this.selected.values();
    for (let i = 0; i < all.length; i++) selected.set(all[i].key, all[i]);
    return new ListState(
      this.rows,
      this.next,
      this.trail.slice(0),
      this.current,
      selected,
      this.every,
    );
  }

  restore(kept: ListState): void {
    this.rows = kept.rows;
    this.next = kept.next;
    this.trail = kept.trail;
    this.current = kept.current;
    this.anchor = this.currentKey;
    this.selected = kept.selected;
    this.every = kept.every;
    this.news = 0;
    this.waiting = null;
    this.gone.clear();
  }

  private set(row: Row, on: bool): void {
    if (!row.isSelectable) return;
    if (on) this.selected.set(row.key, row);
    else this.selected.delete(row.key);
  }

  private refreshSelected(): void {
    for (let i = 0; i < this.rows.length; i++) {
      if (this.selected.has(this.rows[i].key)) this.selected.set(this.rows[i].key, this.rows[i]);
    }
  }
}
