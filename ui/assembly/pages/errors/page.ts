/** The list of error groups: the largest groups of failed jobs, merged with the largest groups of retrying jobs. */
import { link } from "../../controls/button";
import { empty, note } from "../../controls/empty";
import { BUG, DOWN, icon } from "../../controls/icon";
import { menu } from "../../controls/menu";
import { pageHeadWith } from "../../controls/panel";
import { linkedPart, segments } from "../../controls/tabs";
import { countedValue, isKnown, valueText } from "../../controls/value";
import { Groups } from "../../generated/records";
import { ListPage } from "../../kit/list-page";
import { listView, newsPill, nothingFound, searchBox } from "../../kit/list-view";
import { RowPage } from "../../kit/row";
import { ServerData } from "../../kit/server-data";
import { lower } from "../../lib/letters";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { countText, numberText } from "../../lib/number";
import { Address } from "../../model/address";
import { Mark, Model, noMark } from "../../model/model";
import { PageState } from "../../model/place";
import { Pending } from "../../model/requests";
import { GroupsAnswer, groupsPath, MAX_GROUPS, mergeGroups } from "../../parts/error-group";
import { COLUMNS, ErrorRow, sortGroups } from "./row";

/** The answers from which the rows were made. */
class ErrorsState extends PageState {
  constructor(
    readonly failed: Groups,
    readonly retrying: Groups,
  ) {
    super();
  }
}

export class ErrorsPage extends ListPage {
  private failed: Groups = Groups.empty();
  private retrying: Groups = Groups.empty();
  private more: ServerData = new ServerData("errors.retrying");
  private groupCount: i32 = 0;

  constructor() {
    super("errors", "/errors");
    this.label = "Errors";
    this.drawing = BUG;
    this.letter = "e";
    this.one = "error";
    this.many = "errors";
    this.heads = COLUMNS;
    this.inBar = true;
    this.isSelectable = false;
    this.usualSort = "-failed";
    this.everyMs = 15000;
  }

  override mark(m: Model): Mark {
    const groupCount = m.facts.incidents.errorGroups;
    // The server counts at most MAX_GROUPS groups.
    const more = groupCount < MAX_GROUPS ? "" : "+";
    return groupCount > 0 ? new Mark(numberText(groupCount) + more, "red") : noMark;
  }

  private get which(): string {
    return this.address.value("which");
  }

  private query(condition: string): string {
    const since = this.address.value("since");
    if (since.length === 0) return "is:" + condition;
    return `is:${condition} ${condition === "failed" ? "failed" : "updated"}<${since}`;
  }

  /** Failed jobs and retrying jobs are requested separately, so that the server counts each kind. */
  override source(_m: Model): string {
    return groupsPath(this.query(this.which === "retrying" ? "retrying" : "failed"));
  }

  /** Whether failed and retrying jobs are both shown. */
  private get readsBoth(): bool {
    return this.which.length === 0;
  }

  /** Whether the list may be drawn. */
  private get isWhole(): bool {
    return !this.readsBoth || isKnown(this.retrying.of) || this.more.error.length > 0;
  }

  override turn(m: Model, address: Address): void {
    const before = this.which + this.address.value("since");
    super.turn(m, address);
    if (before === this.which + address.value("since")) {
      // A new order or search text needs no new answer.
      if (this.rows.ready) this.list.show(this.shown());
      return;
    }
    // The tabs All and Failed send the same request, so the next answer could be merged into the earlier tab's rows.
    this.shownFor = "";
    this.clear(m);
  }

  private clear(m: Model): void {
    this.failed = Groups.empty();
    this.retrying = Groups.empty();
    this.more.reset();
    m.requests.cancel(this.more.topic);
  }

  override reset(m: Model): void {
    super.reset(m);
    this.clear(m);
  }

  override keepMore(): PageState {
    return new ErrorsState(this.failed, this.retrying);
  }

  /** Restores both answers, because the next answer replaces only one of them. */
  override restoreMore(more: PageState): void {
    const kept = more as ErrorsState;
    this.failed = kept.failed;
    this.retrying = kept.retrying;
    this.shown();
  }

  override load(m: Model): void {
    super.load(m);
    if (this.readsBoth) this.more.request(m, groupsPath(this.query("retrying")));
  }

  override refresh(m: Model): void {
    super.refresh(m);
    if (this.readsBoth) this.more.requestEvery(m, groupsPath(this.query("retrying")), this.everyMs);
  }

  override read(body: string): RowPage {
    const answer = new GroupsAnswer(body);
    if (answer.fault.length > 0) {
      const page = new RowPage();
      page.fault = answer.fault;
      return page;
    }
    if (this.which === "retrying") this.retrying = answer.groups;
    else this.failed = answer.groups;
    return this.shown();
  }

  private shown(): RowPage {
    const page = new RowPage();
    const groups = sortGroups(mergeGroups(this.failed.groups, this.retrying.groups), this.sorted);
    const wanted = lower(this.address.value("search"));
    this.groupCount = groups.length;
    for (let i = 0; i < groups.length; i++) {
      const text = lower(groups[i].label + " " + groups[i].tasks.join(" "));
      if (text.includes(wanted)) page.rows.push(new ErrorRow(groups[i]));
    }
    return page;
  }

  override onAnswer(m: Model, request: Pending, body: string): void {
    if (request.topic !== this.more.topic) {
      super.onAnswer(m, request, body);
      return;
    }
    const answer = new GroupsAnswer(body);
    if (answer.fault.length > 0) {
      this.more.unreadable(answer.fault);
      return;
    }
    const isSame = this.isWhole;
    this.more.arrived(m);
    this.retrying = answer.groups;
    if (this.rows.ready) this.put(m, this.shown(), isSame);
  }

  override onFailure(m: Model, request: Pending, status: i32, reason: string): void {
    if (request.topic === this.more.topic) this.more.failedWith(status, reason);
    else super.onFailure(m, request, status, reason);
  }

  override view(m: Model): Node {
    return box("div", "errors-page", [
      pageHeadWith("Errors", this.summary(), [this.whichOnes(), this.sinceWhen()]),
      box("div", "meta", [searchBox(this, "Find an error or a task"), newsPill(this)]),
      this.isWhole ? listView(m, this, "Errors", this.none()) : this.more.placeholder(m, 8),
      this.more.error.length > 0 ? note("warn", [text(this.more.error)]) : nothing,
      this.rows.ready && this.isWhole ? leaf("p", "hint", this.basis()) : nothing,
    ]);
  }

  private summary(): string {
    if (!this.rows.ready || !this.isWhole) return "";
    const parts: string[] = [];
    if (this.which !== "retrying") {
      parts.push(countedValue(this.failed.of, "failed", "failed"));
    }
    if (this.which !== "failed" && isKnown(this.retrying.of)) {
      parts.push(`${valueText(this.retrying.of)} retrying`);
    }
    // The navigation counts only groups with failed jobs, so the number of these groups is shown here, too.
    const failed = this.failed.groups.length;
    const some =
      this.which.length === 0 && failed > 0 && failed < this.groupCount
        ? `, ${failed} with failed jobs`
        : "";
    return `${countText(this.groupCount, "error group", "error groups")}${some}; ${parts.join(", ")}`;
  }

  private basis(): string {
    const read = this.failed.sampled + this.retrying.sampled;
    const isCut =
      this.failed.groups.length >= MAX_GROUPS || this.retrying.groups.length >= MAX_GROUPS;
    const most = isCut ? ` These are the ${MAX_GROUPS} largest groups.` : "";
    return `Grouped by the first line of the last error. # replaces numbers, ids, times and addresses. ${countText(read, "job", "jobs")} read.${most}`;
  }

  private whichOnes(): Node {
    return segments("Which jobs", [
      linkedPart("All", this.address.with("which", ""), this.which === ""),
      linkedPart("Failed", this.address.with("which", "failed"), this.which === "failed"),
      linkedPart("Retrying", this.address.with("which", "retrying"), this.which === "retrying"),
    ]);
  }

  private sinceWhen(): Node {
    const since = this.address.value("since");
    const items: Node[] = [];
    let opener = since.length > 0 ? "Since " + since : SPAN_WORDS[0];
    for (let i = 0; i < SPANS.length; i++) {
      if (since === SPANS[i]) opener = SPAN_WORDS[i];
      const path = this.address.with("since", SPANS[i]);
      items.push(link(path, "btn q", [text(SPAN_WORDS[i])]));
    }
    return menu("Since when", [text(opener), icon(DOWN)], items);
  }

  private none(): Node {
    if (this.address.value("search").length > 0) return nothingFound(this);
    if (this.address.value("since").length > 0) {
      const all = this.address.with("since", "");
      return empty("No errors in this time", "", all, "Any time");
    }
    if (this.which.length > 0) {
      const title = this.which === "failed" ? "No failed jobs" : "No retrying jobs";
      return empty(title, "", "/errors", "All errors");
    }
    return empty("No errors", "No failed or retrying job has an error.", "/jobs", "All jobs");
  }
}

const SPANS: string[] = ["", "1h", "24h", "7d"];
const SPAN_WORDS: string[] = ["Any time", "Last hour", "Last 24 h", "Last 7 d"];
