/**
 * The rows of the list of jobs, and the requests for them. The page's address has the query (`q`), `sort`, `size` and
 * `cursor`. A long search is done in steps (bar/search.ts).
 */

import { Bar } from "../../bar/bar";
import { FIELD } from "../../bar/bar-view";
import { Search } from "../../bar/search";
import { queryIn } from "../../bar/terms";
import { valueText } from "../../controls/value";
import { countOf } from "../../generated/conditions";
import { JobList, ListedJob, readJobList, Value } from "../../generated/records";
import { ListPage } from "../../kit/list-page";
import { Column, RowPage, rowPage } from "../../kit/row";
import { ServerData } from "../../kit/server-data";
import { JsonReader } from "../../lib/json-reader";
import { numberText, parseWhole } from "../../lib/number";
import { encode } from "../../lib/percent";
import { Address } from "../../model/address";
import { Model } from "../../model/model";
import { PageState } from "../../model/place";
import { Pending } from "../../model/requests";
import { JobRow } from "./row";
import { Settings } from "./settings";
import { timeHead, usualSort } from "./tabs";

/** The possible numbers of jobs on a page (`size` of the address). The second is the default. */
export const SIZES: string[] = ["50", "100", "200"];
const REFRESH_MS: f64 = 4000;
/** The least time between refreshes, as a multiple of the time that the server needed for the last answer. */
const PAUSE_FACTOR = 20;

/** The state of the list that Back restores in addition to the rows. */
export class JobsState extends PageState {
  /** The Grouping of the subclass GroupedJobs. */
  groups: PageState | null = null;

  constructor(
    readonly search: Search,
    readonly firsts: Map<string, i32>,
  ) {
    super();
  }
}

export abstract class JobsList extends ListPage {
  readonly bar: Bar = new Bar();
  search: Search = new Search();
  readonly settings: Settings = new Settings();
  query: string = "";
  private readonly more: ServerData = new ServerData("jobs.more");
  private answer: JobList = JobList.empty();
  /** By the cursor of a page: the number of the page's first row in the whole list, from 1. */
  private firsts: Map<string, i32> = new Map<string, i32>();

  constructor() {
    super("jobs", "/jobs");
    this.searchField = FIELD;
    this.one = "job";
    this.many = "jobs";
  }

  override rowId(key: string): string {
    return "job-" + key;
  }

  /** Returns the address without `job`, because a job beside the list does not change the list. */
  override identity(address: Address): string {
    return address.with("job", "");
  }

  override turn(m: Model, address: Address): void {
    const before = this.identity(this.address);
    super.turn(m, address);
    this.query = queryIn(address);
    this.bar.turn(this.query);
    this.usualSort = usualSort(this.bar.terms.condition);
    m.shared.listPath = address.with("", "");
    if (before !== this.identity(address)) this.firsts = new Map<string, i32>();
    this.firsts.set("", 1);
    this.more.reset();
    this.search = new Search();
  }

  override keepMore(): JobsState {
    return new JobsState(this.search, this.firsts);
  }

  override restoreMore(more: PageState): void {
    const kept = more as JobsState;
    this.search = kept.search;
    this.firsts = kept.firsts;
  }

  override columns(_m: Model): Column[] {
    const condition = this.bar.terms.condition;
    const list: Column[] = [];
    const isAll = condition.length === 0;
    if (isAll) list.push(new Column("c-state", "State", "", ""));
    list.push(new Column("c-job", "Job", "-id", "id"));
    list.push(new Column("c-why", "Status", "", ""));
    list.push(new Column("num c-attempts", "Attempts", "-attempts", ""));
    if (this.settings.has("priority"))
      list.push(new Column("num c-priority", "Priority", "priority", ""));
    if (this.settings.has("queue")) list.push(new Column("c-queue", "Queue", "", ""));
    if (this.settings.has("key")) list.push(new Column("c-key", "Key", "", ""));
    if (this.settings.has("added")) list.push(new Column("num c-added", "Added", "", ""));
    const usual = isAll ? "" : usualSort(condition);
    const reverse = usual === "due" ? "-due" : "";
    list.push(new Column("num c-when", timeHead(condition), usual, reverse));
    return list;
  }

  get size(): string {
    const size = this.address.value("size");
    return SIZES.includes(size) ? size : SIZES[1];
  }

  source(_m: Model): string {
    const q = this.query.length > 0 ? "&q=" + encode(this.query) : "";
    return `api/jobs?limit=${this.size}&fields=row&count=fast&sort=${this.sorted}${q}`;
  }

  /**
   * Requests the rows; if the query is invalid, empties the list instead. If Back has restored the rows of an unfinished
   * search over several answers, these rows are kept: one new request would search fewer jobs.
   */
  override load(m: Model): void {
    if (this.search.answers > 1 && this.search.isPartial) return;
    if (this.bar.terms.fault === null) super.load(m);
    else {
      this.rows.ready = true;
      this.list.rows = [];
    }
  }

  override reload(m: Model): void {
    this.search = new Search();
    this.load(m);
  }

  override refresh(m: Model): void {
    const search = this.search;
    if (this.bar.terms.fault !== null || !this.rows.ready) return;
    if (!search.isComplete || search.answers > 1 || this.isSearching(m)) return;
    this.everyMs = this.refreshMs();
    super.refresh(m);
  }

  override changedAt(m: Model): f64 {
    return this.bar.terms.condition === "failed" ? m.facts.failedAt : m.facts.changedAt;
  }

  protected refreshMs(): f64 {
    return max(REFRESH_MS, <f64>(this.search.tookMs * PAUSE_FACTOR));
  }

  read(body: string): RowPage {
    const r = new JsonReader(body);
    const answer = readJobList(r);
    const page = rowPage(r, answer.nextCursor);
    const tab = this.bar.terms.condition;
    for (let i = 0; i < answer.jobs.length; i++) {
      page.rows.push(new JobRow(answer.jobs[i], this.settings, tab));
    }
    if (!r.failed) this.answer = answer;
    return page;
  }

  override onAnswer(m: Model, request: Pending, body: string): void {
    if (request.topic === this.more.topic) this.onMore(m, body);
    else {
      // If the rows are from several answers, and a refresh was only merged into them, the search does not restart.
      const isJoined = this.search.answers > 1;
      super.onAnswer(m, request, body);
      if (this.rows.error.length === 0 && !(isJoined && this.list.wasMerged)) this.began(m);
      this.settle(m);
    }
  }

  /** Called after an answer with which a search begins or restarts. */
  protected began(m: Model): void {
    this.search.begin(m, this.answer);
  }

  override onFailure(m: Model, request: Pending, status: i32, reason: string): void {
    if (request.topic === this.rows.topic) super.onFailure(m, request, status, reason);
    else {
      if (request.topic === this.more.topic) this.search.stop();
      m.notices.bad(reason);
    }
  }

  private onMore(m: Model, body: string): void {
    const wasPartial = this.search.isPartial;
    const page = this.read(body);
    if (page.fault.length > 0) {
      m.notices.bad(`The server's answer can't be read: ${page.fault}`);
      return;
    }
    this.more.arrived(m);
    if (!wasPartial) page.rows = this.list.rows.concat(page.rows);
    this.list.show(page);
    this.search.add(this.answer);
    this.settle(m);
  }

  /** Shows the new rows that the last refresh has only counted. */
  showNews(m: Model): void {
    this.list.showNews();
    if (this.search.answers > 1) this.search.begin(m, this.answer);
    this.settle(m);
  }

  protected settle(m: Model): void {
    const list = this.list;
    const cursor = this.address.value("cursor");
    if (this.firsts.has(cursor) && list.next.length > 0) {
      this.firsts.set(list.next, this.firsts.get(cursor) + list.rows.length);
    }
    const jobs: ListedJob[] = [];
    for (let i = 0; i < list.rows.length; i++) {
      if (list.rows[i] instanceof JobRow) jobs.push((list.rows[i] as JobRow).job);
    }
    m.shared.listIds = jobs.map<i64>((job) => job.id);
    m.shared.listFirst =
      jobs.length === list.rows.length && this.firsts.has(cursor) ? this.firsts.get(cursor) : 0;
    m.shared.listTotal = this.total(m);
    m.shared.listGoesOn = list.next.length > 0;
    if (
      this.search.shouldContinue(m, list.rows.length >= <i32>parseWhole(this.size).value) &&
      list.next.length > 0
    )
      this.goOn(m);
  }

  goOn(m: Model): void {
    this.more.request(m, this.at(m, this.list.next));
  }

  stop(m: Model): void {
    this.search.stop();
    m.requests.cancel(this.more.topic);
    m.requests.cancel(this.rows.topic);
    this.search.isComplete = false;
  }

  /** Whether the user waits for the first rows, for the rows of another page, or for the next step of a search. */
  isSearching(m: Model): bool {
    return (
      this.more.isPending(m) || this.isTurning(m) || (!this.rows.ready && this.rows.isPending(m))
    );
  }

  requestedAt(m: Model): f64 {
    return this.more.isPending(m) ? this.more.requestedAt : this.rows.requestedAt;
  }

  /** Returns how many jobs the query finds; null: unknown. */
  total(m: Model): Value | null {
    const terms = this.bar.terms;
    if (terms.chips.length === 0 && m.facts.has("counts"))
      return countOf(m.facts.counts, terms.condition);
    return this.search.count;
  }

  override extent(m: Model): string {
    const cursor = this.address.value("cursor");
    const rows = this.list.rows.length;
    if (!this.firsts.has(cursor)) return rows === 1 ? "1 job" : `${rows} jobs`;
    const first = this.firsts.get(cursor);
    const span = rows > 0 ? `${numberText(first)}–${numberText(first + rows - 1)}` : "0";
    const total = this.total(m);
    return total === null ? span : `${span} of ${valueText(total)}`;
  }
}
