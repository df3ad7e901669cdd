/** The list of cron entries (schedules, and entries in workers' timetables), and a chart of the next 24 hours. */
import { empty } from "../../controls/empty";
import { CLOCK } from "../../controls/icon";
import { pageHeadWith } from "../../controls/panel";
import { readCronList } from "../../generated/records";
import { ListPage } from "../../kit/list-page";
import { listCountText, listView, newsPill, nothingFound, searchBox } from "../../kit/list-view";
import { RowPage, rowPage } from "../../kit/row";
import { writeButton } from "../../kit/verb";
import { JsonReader } from "../../lib/json-reader";
import { box, leaf, Node, nothing } from "../../lib/node";
import { Model } from "../../model/model";
import { Shortcut } from "../../model/shortcut";
import { scheduleKeys } from "../../operations/scheduling";
import { dayAhead } from "./ahead";
import { COLUMNS, CronRow } from "./row";

export { CronEntryPage } from "./entry-page";

const SEARCHED_FROM: i64 = 8;

export class CronPage extends ListPage {
  constructor() {
    super("cron", "/cron");
    this.label = "Cron";
    this.drawing = CLOCK;
    this.letter = "c";
    this.one = "entry";
    this.many = "entries";
    this.heads = COLUMNS;
    this.isSelectable = false;
    this.usualSort = "next";
    this.everyMs = 15000;
  }

  override source(_m: Model): string {
    return this.listOf("api/cron");
  }

  override read(body: string): RowPage {
    const r = new JsonReader(body);
    const list = readCronList(r);
    const page = rowPage(r, list.nextCursor);
    for (let i = 0; i < list.entries.length; i++) page.rows.push(new CronRow(list.entries[i]));
    page.count = list.count;
    return page;
  }

  /** Whether the search field is shown: during a search, and while the list has at least SEARCHED_FROM entries. */
  private get isLong(): bool {
    return this.address.value("search").length > 0 || this.count >= SEARCHED_FROM;
  }

  override shortcuts(m: Model): Shortcut[] {
    const keys = super.shortcuts(m);
    const list = this.list;
    if (!list.isWalked || list.current >= list.rows.length) return keys;
    return keys.concat(scheduleKeys(m, (list.rows[list.current] as CronRow).entry, "List"));
  }

  override view(m: Model): Node {
    const none =
      this.address.value("search").length > 0
        ? nothingFound(this)
        : empty(
            "No schedules",
            "Add a schedule, or start a worker with a crontab.",
            "/workers",
            "All workers",
          );
    return box("div", "cron-page", [
      pageHeadWith("Cron", listCountText(this, "next first"), [
        writeButton(m, "Add a schedule…", "ask.schedule-add", "", ""),
      ]),
      this.isLong || this.list.hasNews
        ? box("div", "meta", [
            this.isLong ? searchBox(this, "Find a schedule or a task") : nothing,
            newsPill(this),
          ])
        : nothing,
      listView(m, this, "Cron", none),
      dayAhead(
        this.list.rows,
        this.rows.answeredAt + m.live.ahead,
        <i64>this.list.rows.length < this.count,
      ),
      leaf("p", "hint", "Patterns without a time zone are in UTC."),
    ]);
  }
}
