/**
 * The base class of pages that show a list. A subclass defines where the rows come from and how they look. The page's
 * address has `search`, `sort` and `cursor`. Addresses that differ only in `cursor` show pages of one list.
 */
import { after, focus, navigate } from "../host";
import { numberText } from "../lib/number";
import { encode } from "../lib/percent";
import { Address } from "../model/address";
import { Model, Page } from "../model/model";
import { PageState } from "../model/place";
import { Pending } from "../model/requests";
import { Shortcut } from "../model/shortcut";
import { List, ListState } from "./list";
import { Column, Row, RowPage } from "./row";
import { ServerData, SKELETON_MS } from "./server-data";

const TYPING_MS: i32 = 250;

export abstract class ListPage extends Page {
  readonly list: List = new List();
  readonly rows: ServerData;
  address: Address = new Address("/", new Map<string, string>());
  searchDraft: string = "";
  /** Whether users that may write can select rows. */
  isSelectable: bool = true;
  /** The shortest interval between regular requests for the rows, in milliseconds. */
  everyMs: f64 = 4000;
  /** The headings for rows that are one cell across all columns, such as groups. */
  spanningHeads: Column[] = [];
  /** The order of the rows if the address has no `sort`. */
  usualSort: string = "";
  /** The usual order in words, if it is not by the values of a column. */
  rank: string = "";
  heads: Column[] = [];
  /** `one`: the noun for one row, such as `job`. `many`: its plural. */
  one: string = "";
  many: string = "";
  /** The number of rows on all pages of the list; i64.MIN_VALUE: unknown. */
  count: i64 = i64.MIN_VALUE;
  private typed: i32 = 0;
  /** Whether the next answer replaces the rows and sets the focus. */
  private renewed: bool = false;
  private sameList: string = "";

  /** The key of the row whose job is shown beside the list; empty: none. */
  get opened(): string {
    return "";
  }

  constructor(name: string, path: string) {
    super(name, path);
    this.rows = new ServerData(name + ".rows");
    this.wide = true;
    this.searchField = name + "-search";
  }

  /** The API's address of the list, with `?` and without a cursor. */
  abstract source(m: Model): string;

  abstract read(body: string): RowPage;

  /** Returns the API's address of a list, with the order and the search text of the page. */
  protected listOf(api: string): string {
    const search = this.address.value("search");
    const path = `${api}?limit=100&sort=${encode(this.sorted)}`;
    return search.length > 0 ? path + "&search=" + encode(search) : path;
  }

  get sorted(): string {
    const sort = this.address.value("sort");
    return sort.length > 0 ? sort : this.usualSort;
  }

  columns(_m: Model): Column[] {
    return this.heads;
  }

  /** Returns the text between Previous and Next. */
  extent(_m: Model): string {
    return `Page ${numberText(this.list.trail.length)}`;
  }

  /** Returns a text that is the same for all pages of one list. */
  identity(address: Address): string {
    return address.with("", "");
  }

  override get news(): i32 {
    return this.list.news;
  }

  override turn(_m: Model, address: Address): void {
    const cursor = address.value("cursor");
    const which = this.identity(address);
    const same = which === this.sameList;
    this.renewed = same && cursor !== this.address.value("cursor");
    this.sameList = which;
    if (address.value("search") !== this.address.value("search")) this.count = i64.MIN_VALUE;
    this.address = address;
    this.searchDraft = address.value("search");
    this.list.turn(cursor, same);
    this.rows.error = "";
  }

  /** After another page was open, the first answer replaces all rows, unless restoreState() was called. */
  override leave(m: Model): void {
    if (m.page !== this) this.shownFor = "";
  }

  override reset(_m: Model): void {
    this.rows.reset();
    this.list.rows = [];
    this.list.clear();
  }

  override saveState(): PageState {
    const kept = this.list.keep();
    kept.from = this.shownFor;
    kept.more = this.keepMore();
    return kept;
  }

  /** Returns what Back restores in addition to the state of the list; null: nothing. */
  keepMore(): PageState | null {
    return null;
  }

  override restoreState(_m: Model, kept: PageState): void {
    if (!(kept instanceof ListState)) return;
    const list = kept as ListState;
    this.list.restore(list);
    this.shownFor = list.from;
    const more = list.more;
    if (more !== null) this.restoreMore(more);
    this.rows.ready = true;
    this.renewed = false;
  }

  restoreMore(_more: PageState): void {}

  override load(m: Model): void {
    this.rows.request(m, this.here(m));
    if (this.rows.ready) after(<i32>SKELETON_MS, "app.draw", "");
  }

  override refresh(m: Model): void {
    this.rows.requestSince(m, this.here(m), this.everyMs, this.changedAt(m));
  }

  /** Returns the latest time at which the rows may have changed. */
  changedAt(m: Model): f64 {
    // The end of a pause can change rows without changing a count.
    return m.facts.incidentsOf("paused") > 0 ? m.now : m.facts.changedAt;
  }

  /** Whether the rows of the address were requested at least SKELETON_MS ago, and are not on screen yet. */
  isTurning(m: Model): bool {
    const isOther = this.rows.isPending(m) && this.shownFor !== this.here(m);
    return isOther && m.now - this.rows.requestedAt >= SKELETON_MS;
  }

  protected here(m: Model): string {
    return this.at(m, this.address.value("cursor"));
  }

  at(m: Model, cursor: string): string {
    const source = this.source(m);
    return cursor.length > 0 ? `${source}&cursor=${encode(cursor)}` : source;
  }

  override onAnswer(m: Model, request: Pending, body: string): void {
    if (request.topic !== this.rows.topic) return;
    const page = this.read(body);
    if (page.fault.length > 0) {
      this.rows.unreadable(page.fault);
      return;
    }
    if (page.next.length > 0) page.cut.add("");
    const isSame = this.rows.ready && this.shownFor === request.path;
    if (page.count !== i64.MIN_VALUE) this.count = page.count;
    this.rows.arrived(m);
    this.shownFor = request.path;
    this.put(m, page, isSame);
  }

  /** Shows the rows of an answer, or merges them if the user is reading rows of the same address. */
  protected put(m: Model, page: RowPage, isSame: bool): void {
    const isRead = m.live.isRead(m.now) && this.list.rows.length > 0;
    if (isSame && isRead && !this.renewed) this.list.merge(page);
    else this.list.show(page);
    if (this.renewed) this.focusCurrent();
    this.renewed = false;
  }
  /** The API's address of the rows on screen; empty: the next answer replaces them. */
  protected shownFor: string = "";

  override onWrite(write: Pending): void {
    if (write.count > 0) this.changed();
  }

  /** Called after a write has changed rows. */
  protected changed(): void {
    this.list.clear();
    this.renewed = true;
  }

  override onFailure(_m: Model, _request: Pending, status: i32, reason: string): void {
    this.rows.failedWith(status, reason);
  }

  override shortcuts(m: Model): Shortcut[] {
    const keys = [
      this.shortcut("j", "Next row", ".next"),
      this.shortcut("k", "Previous row", ".before"),
      this.shortcut("Enter", "Open row", ".open"),
    ];
    if (!this.isSelectable || !m.access.canWrite) return keys;
    keys.push(this.shortcut("x", "Select row", ".select"));
    keys.push(this.shortcut("X", "Extend selection", ".through"));
    return keys;
  }

  private shortcut(keys: string, label: string, verb: string): Shortcut {
    return new Shortcut(keys, label, this.name + verb, "", "List");
  }

  override act(m: Model, verb: string, arg: string, value: string): void {
    const list = this.list;
    const at = verb === "key" || value.length === 1 ? list.indexOf(arg) : -1;
    if (at >= 0) list.moveTo(at);
    if (verb === "key") this.key(m, value);
    else if (verb === "next") this.walk(list.isWalked ? 1 : 0);
    else if (verb === "before") this.walk(list.isWalked ? -1 : 0);
    // If the user has not moved to a row yet, Enter only moves the focus to the current row.
    else if (verb === "rows" || (verb === "open" && value === "Enter" && !list.isWalked))
      this.walk(0);
    else if (verb === "open") this.openAt(m, arg.length > 0 ? arg : list.currentKey, value);
    else if (verb === "select") list.toggle(list.currentKey, false);
    else if (verb === "through") list.toggle(list.currentKey, true);
    else if (verb === "pick") list.toggle(arg, value === "shift");
    else if (verb === "all") list.toggleAll();
    else if (verb === "every") list.every = list.rows.length > 0;
    else if (verb === "none") list.clear();
    else if (verb === "news") list.showNews();
    else if (verb === "search") {
      this.searchDraft = value;
      this.typed++;
      after(TYPING_MS, this.name + ".searched", this.typed.toString());
    } else if (verb === "find" || (verb === "searched" && arg === this.typed.toString())) {
      navigate(this.address.with("search", this.searchDraft), true);
    }
  }

  private key(m: Model, stroke: string): void {
    const list = this.list;
    if (stroke === "ArrowDown") this.walk(1);
    else if (stroke === "ArrowUp") this.walk(-1);
    else if (stroke === "Home") this.walk(-list.current);
    else if (stroke === "End") this.walk(list.rows.length);
    else if (stroke === "Space") list.toggle(list.currentKey, false);
    else if (stroke === "Enter") this.openAt(m, list.currentKey, stroke);
    else if (stroke === "Shift+ArrowDown" || stroke === "Shift+ArrowUp") {
      this.walk(stroke === "Shift+ArrowDown" ? 1 : -1);
      if (!list.selected.has(list.currentKey)) list.toggle(list.currentKey, false);
    } else if (stroke === "Escape") this.escape(m);
  }

  protected walk(by: i32): void {
    if (this.list.move(this.list.current + by) !== null) this.focusCurrent();
  }

  protected escape(_m: Model): void {
    this.list.clear();
  }

  protected focusCurrent(): void {
    const key = this.list.currentKey;
    focus(key.length > 0 ? this.rowId(key) : "page-title");
  }

  rowId(key: string): string {
    return this.name + "-row-" + key;
  }

  private openAt(m: Model, key: string, stroke: string): void {
    const at = this.list.indexOf(key);
    if (at < 0) return;
    this.list.moveTo(at);
    this.open(m, this.list.rows[at], stroke);
  }

  /** Opens a row. `stroke`: `Enter`, `shift` for a click with shift, or empty for another click. */
  protected open(_m: Model, row: Row, _stroke: string): void {
    if (row.path.length > 0) navigate(row.path, false);
  }
}
