/** The changes made on the page, through the API and on the command line, newest first, with links to receipts. */
import { commandLine, link } from "../../controls/button";
import { empty, note } from "../../controls/empty";
import { INFO, icon, PULSE } from "../../controls/icon";
import { pageHeadWith } from "../../controls/panel";
import { tab, tabs } from "../../controls/tabs";
import { shellLine } from "../../forms/shell-line";
import { readActivity } from "../../generated/records";
import { ListPage } from "../../kit/list-page";
import { listView, newsPill, nothingFound, searchBox } from "../../kit/list-view";
import { RowPage, rowPage } from "../../kit/row";
import { JsonReader } from "../../lib/json-reader";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { encode } from "../../lib/percent";
import { Model } from "../../model/model";
import { ActivityRow, COLUMNS } from "./row";

const PAGE_SIZE = 50;

export class ActivityPage extends ListPage {
  /** Whether entries are stored in a table, and not only in the server's memory. */
  private isRecorded: bool = true;

  constructor() {
    super("activity", "/activity");
    this.label = "Activity";
    this.drawing = PULSE;
    this.letter = "a";
    this.one = "change";
    this.many = "changes";
    this.heads = COLUMNS;
    this.isSelectable = false;
    // The row of an operation shows counts that change while the operation runs, so the rows are requested often.
    this.everyMs = 2000;
  }

  override source(_m: Model): string {
    const search = encode(this.address.value("search"));
    const last = this.address.value("last_secs");
    const path = `api/activity?limit=${PAGE_SIZE}&search=${search}`;
    return last.length > 0 ? path + "&last_secs=" + encode(last) : path;
  }

  override read(body: string): RowPage {
    const r = new JsonReader(body);
    const answer = readActivity(r);
    const page = rowPage(r, answer.nextCursor);
    for (let i = 0; i < answer.entries.length; i++) {
      page.rows.push(new ActivityRow(answer.entries[i]));
    }
    if (!r.failed) this.isRecorded = answer.isRecorded;
    return page;
  }

  override view(m: Model): Node {
    const isRecorded = this.isRecorded || !this.rows.ready;
    return box("div", "activity-page", [
      pageHeadWith("Activity", isRecorded ? "Changes of the last 90 days" : "", []),
      isRecorded ? nothing : notStored(m),
      tabs("When", [
        this.span("", "All"),
        this.span("3600", "Last hour"),
        this.span("86400", "Last day"),
      ]),
      box("div", "meta", [searchBox(this, "Find by user or job"), newsPill(this)]),
      listView(m, this, "Activity", this.none()),
    ]);
  }

  private span(secs: string, words: string): Node {
    const isOn = this.address.value("last_secs") === secs;
    return tab(this.address.with("last_secs", secs), words, "", nothing, isOn);
  }

  private none(): Node {
    if (this.address.value("search").length > 0) return nothingFound(this);
    return empty(
      "No changes" + (this.address.value("last_secs").length > 0 ? " in this time" : " yet"),
      "Changes are listed here.",
      "/jobs",
      "All jobs",
    );
  }
}

/** Returns the note for a schema without the extension `operations`. Its changes are only in the log and in memory. */
function notStored(m: Model): Node {
  const line = shellLine("migrate --with-operations", m.access.session.schema);
  return note("", [
    icon(INFO),
    box("div", "", [
      leaf("b", "", "Changes are only logged. "),
      text("This list is lost when the server stops. To keep and undo changes, use "),
      link("/maintenance", "link", [text("Maintenance")]),
      text(" or run"),
      commandLine(line),
    ]),
  ]);
}
