/** Every write of page, API and command line, newest first, with its receipt and its undo. */
import { commandLine, link } from "../../controls/button";
import { empty, note } from "../../controls/empty";
import { INFO, icon, PULSE } from "../../controls/icon";
import { pageHeadWith } from "../../controls/panel";
import { shellLine } from "../../forms/shell-line";
import { readActivity } from "../../generated/records";
import { ListPage } from "../../kit/list-page";
import { listView, newsPill } from "../../kit/list-view";
import { RowPage, rowPage } from "../../kit/row";
import { JsonReader } from "../../lib/json-reader";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { Model } from "../../model/model";
import { ActivityRow, COLUMNS } from "./row";

const PAGE_SIZE = 50;

export class ActivityPage extends ListPage {
  /** Whether the entries outlive the server. */
  private isKept: bool = true;

  constructor() {
    super("activity", "/activity");
    this.label = "Activity";
    this.drawing = PULSE;
    this.letter = "a";
    this.one = "write";
    this.many = "writes";
    this.heads = COLUMNS;
    this.isSelectable = false;
    // The line of an operation shows its progress.
    this.everyMs = 2000;
  }

  override source(_m: Model): string {
    return `api/activity?limit=${PAGE_SIZE}`;
  }

  override read(body: string): RowPage {
    const r = new JsonReader(body);
    const answer = readActivity(r);
    const page = rowPage(r, answer.nextCursor);
    for (let i = 0; i < answer.entries.length; i++) {
      page.rows.push(new ActivityRow(answer.entries[i]));
    }
    if (!r.failed) this.isKept = answer.isRecorded;
    return page;
  }

  override view(m: Model): Node {
    const isKept = this.isKept || !this.rows.ready;
    return box("div", "activity-page", [
      pageHeadWith("Activity", isKept ? "Changes in the last 90 days" : "", [newsPill(this)]),
      isKept ? nothing : notStored(m),
      listView(m, this, "Activity", none()),
    ]);
  }
}

/** The note that, without the extension, the trail is only in the memory of this process. */
function notStored(m: Model): Node {
  const line = shellLine("migrate --with-operations", m.access.session.schema);
  return note("", [
    icon(INFO),
    box("div", "", [
      leaf("b", "", "Changes are only logged. "),
      text(
        "This list is lost when the server stops, and nothing can be undone. To keep both, use ",
      ),
      link("/maintenance", "link", [text("Maintenance")]),
      text(" or by"),
      commandLine(line),
    ]),
  ]);
}

function none(): Node {
  return empty(
    "No changes yet",
    "Changes from this page, the API and the command line are listed here.",
    "/jobs",
    "All jobs",
  );
}
