/**
 * The page of jobs on screen. A quiet refresh never moves a row that someone may be reading:
 * known rows change in place, rows that left stay and are marked, and new rows wait in `waiting`
 * until they are asked for.
 */
import { JobList, ListedJob } from "../../generated/records";
import { Filter } from "./filter";

/** How many rows may stand on screen before new ones have to wait. */
const MOST_ROWS = 200;
/** How many earlier pages are remembered for "Previous". */
const MOST_PAGES = 1000;

export class JobListModel {
  filter: Filter = new Filter();
  cursor: string = "";
  /** The cursors of the pages seen on the way here, this one last. */
  trail: string[] = [];

  jobs: ListedJob[] = [];
  nextCursor: string = "";
  loaded: bool = false;
  loading: bool = false;
  error: string = "";
  fetchedAt: f64 = 0;

  /** The rows that the last quiet answer no longer holds. */
  gone: Set<i64> = new Set<i64>();
  waiting: JobList | null = null;
  changes: i32 = 0;
  paused: bool = false;

  selected: Set<i64> = new Set<i64>();
  /** The row that the tab key reaches. */
  current: i32 = 0;
  /** Where a selection with shift starts. */
  anchor: i32 = 0;

  /** After a write or a turn of the page the focus goes to the rows when they come. */
  refocus: bool = false;

  identifierDraft: string = "";
  queueDraft: string = "";
  searchDraft: string = "";
  draftSerial: i32 = 0;

  /** Turns to another list or another page of it; the rows stay until the answer comes. */
  turn(filter: Filter, cursor: string): void {
    const sameList = filter.query("") === this.filter.query("");
    this.refocus = sameList && this.loaded && cursor !== this.cursor;
    if (sameList) this.follow(cursor);
    else this.trail = [cursor];
    this.filter = filter;
    this.cursor = cursor;
    this.identifierDraft = filter.identifier;
    this.queueDraft = filter.queue;
    this.searchDraft = filter.search;
    this.selected.clear();
    this.current = 0;
    this.anchor = 0;
    this.error = "";
    this.loading = true;
    this.drop();
  }

  get hasPrevious(): bool {
    return this.cursor.length > 0;
  }

  get previousCursor(): string {
    return this.trail.length > 1 ? this.trail[this.trail.length - 2] : "";
  }

  /** The number of this page, or 0 when it was pasted and nobody knows. */
  get pageNumber(): i32 {
    return this.trail.length > 0 && this.trail[0].length === 0 ? this.trail.length : 0;
  }

  show(page: JobList): void {
    this.jobs = page.jobs;
    const next = page.nextCursor;
    this.nextCursor = next === null ? "" : next;
    this.loaded = true;
    this.error = "";
    this.drop();
    this.current = max(0, min(this.current, page.jobs.length - 1));
    this.anchor = this.current;
    const kept = new Set<i64>();
    for (let i = 0; i < page.jobs.length; i++) {
      if (this.selected.has(page.jobs[i].id)) kept.add(page.jobs[i].id);
    }
    this.selected = kept;
  }

  /** Takes in a newer answer without moving a row; what comes behind the last row may follow it. */
  merge(page: JobList): void {
    const places = new Map<i64, i32>();
    for (let i = 0; i < page.jobs.length; i++) places.set(page.jobs[i].id, i);
    this.gone.clear();
    let shown = 0;
    const last = this.jobs.length > 0 ? this.jobs[this.jobs.length - 1].id : i64.MIN_VALUE;
    for (let i = 0; i < this.jobs.length; i++) {
      const id = this.jobs[i].id;
      if (places.has(id)) {
        this.jobs[i] = page.jobs[places.get(id)];
        shown++;
      } else this.gone.add(id);
    }
    for (let i = 0; i < page.jobs.length && this.jobs.length < MOST_ROWS; i++) {
      if (page.jobs[i].id <= last) continue;
      this.jobs.push(page.jobs[i]);
      shown++;
    }
    const next = page.nextCursor;
    this.nextCursor = next === null ? "" : next;
    this.changes = this.gone.size + (page.jobs.length - shown);
    this.waiting = this.changes > 0 ? page : null;
  }

  indexOf(id: i64): i32 {
    for (let i = 0; i < this.jobs.length; i++) if (this.jobs[i].id === id) return i;
    return -1;
  }

  chosen(): ListedJob[] {
    const jobs: ListedJob[] = [];
    for (let i = 0; i < this.jobs.length; i++) {
      if (this.selected.has(this.jobs[i].id)) jobs.push(this.jobs[i]);
    }
    return jobs;
  }

  private drop(): void {
    this.gone.clear();
    this.waiting = null;
    this.changes = 0;
  }

  private follow(cursor: string): void {
    const known = this.trail.indexOf(cursor);
    if (known >= 0) this.trail = this.trail.slice(0, known + 1);
    else if (cursor.length === 0) this.trail = [""];
    else this.trail.push(cursor);
    if (this.trail.length > MOST_PAGES) this.trail.shift();
  }
}
