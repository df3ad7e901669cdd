/**
 * The jobs that a query finds, grouped by error, task or queue: the largest groups, and the first jobs of open groups.
 */

import { Terms, termsOf } from "../../bar/terms";
import {
  Group,
  Groups,
  JobList,
  ListedJob,
  readGroups,
  readJobList,
} from "../../generated/records";
import { Row, RowPage } from "../../kit/row";
import { JsonReader } from "../../lib/json-reader";
import { encode } from "../../lib/percent";
import { quoteIfNeeded } from "../../model/links";
import { Model } from "../../model/model";
import { PageState } from "../../model/place";
import { Pending } from "../../model/requests";
import { groupQuery } from "../../parts/error-group";
import { varyingTexts } from "../../parts/varying";
import { GroupRow, headKey, MoreRow } from "./group-rows";
import { JobRow } from "./row";
import { Settings } from "./settings";

export const GROUPINGS: string[] = ["error", "task", "queue"];
export const MAX_GROUPS = 50;
/** The maximum number of jobs that an open group shows. */
const SHOWN = 10;
/** The maximum number of requests in one search for the rows of a group. */
const MAX_STEPS = 8;
/** The topic of a request for a group's rows is `jobs.in:` and the group's key. */
const ROWS_OF = "in:";

class OpenRows {
  jobs: ListedJob[] = [];
  rows: Row[] = [];
  /** The API's address of the rows, without a cursor. */
  path: string = "";
  /** The number of answers to the present search. */
  steps: i32 = 0;
  /** Whether the search may still find jobs that come before some of `jobs`. If so, the next answer replaces `jobs`. */
  private isPartial: bool = false;
  /** Whether the search has ended; false: the last answer reached the server's time limit. */
  isComplete: bool = true;
  isKnown: bool = false;
  /** The group's count when its rows last arrived; -1: never. */
  count: i64 = -1;

  /** `goesOn`: whether the answer continues the search of the previous answer. */
  add(answer: JobList, goesOn: bool): void {
    this.steps = goesOn ? this.steps + 1 : 1;
    this.jobs = goesOn && !this.isPartial ? this.jobs.concat(answer.jobs) : answer.jobs;
    this.isPartial = answer.ranking === "partial";
    this.isComplete = answer.complete;
    this.isKnown = true;
  }
}

export class Grouping extends PageState {
  answer: Groups = Groups.empty();
  private opened: Map<string, OpenRows> = new Map<string, OpenRows>();

  constructor(
    /** `error`, `task` or `queue`; empty: the list has no groups. */
    readonly by: string,
    private readonly terms: Terms,
    private readonly sort: string,
    private readonly settings: Settings,
  ) {
    super();
  }

  source(query: string): string {
    return `api/groups?by=${this.by}&q=${encode(query)}&limit=${MAX_GROUPS}`;
  }

  read(body: string): RowPage {
    const r = new JsonReader(body);
    const answer = readGroups(r);
    r.end();
    if (r.failed) {
      const page = new RowPage();
      page.fault = r.error;
      return page;
    }
    this.answer = answer;
    return this.page();
  }

  /** Returns the heads of the groups. Below the head of an open group are its rows, and a link to all its jobs. */
  page(): RowPage {
    const page = new RowPage();
    const groups = this.answer.groups;
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i];
      const isOpen = this.opened.has(group.key);
      page.rows.push(
        new GroupRow(group, this.by, this.terms.condition, this.queryOf(group), isOpen),
      );
      if (!isOpen) continue;
      const opened = this.opened.get(group.key);
      for (let k = 0; k < opened.rows.length; k++) page.rows.push(opened.rows[k]);
      if (!opened.isKnown) continue;
      if (group.count.value > opened.rows.length || !opened.isComplete)
        page.cut.add(headKey(group.key));
      page.rows.push(this.more(group, opened));
    }
    if (groups.length >= MAX_GROUPS) page.cut.add("");
    return page;
  }

  private more(group: Group, opened: OpenRows): Row {
    return new MoreRow(group, this.queryOf(group), opened.rows.length, opened.isComplete);
  }

  private queryOf(group: Group): string {
    const term =
      this.by === "error"
        ? groupQuery(group.key, group.label)
        : `${this.by}:${quoteIfNeeded(group.label)}`;
    return this.terms.and(termsOf(term));
  }

  isOpen(key: string): bool {
    return this.opened.has(key);
  }

  /** Opens or closes a group. */
  toggle(m: Model, group: Group): void {
    if (this.opened.has(group.key)) {
      this.opened.delete(group.key);
      m.requests.cancel("jobs." + ROWS_OF + group.key);
    } else {
      this.opened.set(group.key, new OpenRows());
      this.request(m, group);
    }
  }

  /** Requests the rows of those open groups whose count has changed since their rows arrived. */
  requestRows(m: Model): void {
    const groups = this.answer.groups;
    for (let i = 0; i < groups.length; i++) {
      if (!this.opened.has(groups[i].key)) continue;
      if (this.opened.get(groups[i].key).count !== groups[i].count.value)
        this.request(m, groups[i]);
    }
  }

  private request(m: Model, group: Group): void {
    const opened = this.opened.get(group.key);
    const query = encode(this.queryOf(group));
    opened.path = `api/jobs?limit=${SHOWN}&fields=row&count=none&sort=${this.sort}&q=${query}`;
    m.requests.read(m.access, "jobs." + ROWS_OF + group.key, opened.path);
  }

  /** Whether a request was for the rows of a group. */
  owns(request: Pending): bool {
    return request.what.startsWith(ROWS_OF);
  }

  /**
   * Whether an open group of this list has made the request. The key alone is not enough, because another list may have
   * a group with the same key.
   */
  awaits(request: Pending): bool {
    const key = this.keyOf(request);
    return this.opened.has(key) && request.path.startsWith(this.opened.get(key).path);
  }

  keyOf(request: Pending): string {
    return request.what.substring(ROWS_OF.length);
  }

  /** Takes an answer with rows of a group. Returns whether the new rows replace the group's rows on screen. */
  onAnswer(m: Model, request: Pending, body: string): bool {
    const key = this.keyOf(request);
    const r = new JsonReader(body);
    const answer: JobList = readJobList(r);
    r.end();
    if (r.failed) {
      m.notices.bad(`The server's answer can't be read: ${r.error}`);
      return false;
    }
    const opened = this.opened.get(key);
    const goesOn = request.path.includes("&cursor=");
    const isFirst = !opened.isKnown || goesOn;
    opened.count = this.groupOf(key).count.value;
    opened.add(answer, goesOn);
    this.fill(key, opened);
    // After an answer that reached the server's time limit, another request continues the search.
    const next = answer.nextCursor;
    const wants = !answer.complete && opened.jobs.length < SHOWN && opened.steps < MAX_STEPS;
    if (wants && next !== null) this.requestFrom(m, request.topic, opened, next);
    return isFirst;
  }

  clear(): void {
    this.answer = Groups.empty();
    this.opened.clear();
  }

  private requestFrom(m: Model, topic: string, opened: OpenRows, cursor: string): void {
    m.requests.read(m.access, topic, `${opened.path}&cursor=${encode(cursor)}`);
  }

  private fill(key: string, opened: OpenRows): void {
    const jobs = opened.jobs;
    const differences =
      this.by === "error" ? varyingTexts(this.groupOf(key).label, jobs) : ([] as string[]);
    const rows: Row[] = [];
    for (let i = 0; i < jobs.length; i++) {
      const text = i < differences.length ? differences[i] : "";
      rows.push(new JobRow(jobs[i], this.settings, this.terms.condition, headKey(key), text));
    }
    opened.rows = rows;
  }

  private groupOf(key: string): Group {
    const groups = this.answer.groups;
    for (let i = 0; i < groups.length; i++) if (groups[i].key === key) return groups[i];
    return Group.empty();
  }

  rowsBelow(key: string): Row[] {
    const rows: Row[] = [];
    const all = this.page().rows;
    for (let i = 0; i < all.length; i++) {
      if (all[i].scope === headKey(key)) rows.push(all[i]);
    }
    return rows;
  }
}
