/** The named queues, those that are stuck first: searched and ordered on the server, a page at a time. */
import { empty } from "../../controls/empty";
import { LAYERS } from "../../controls/icon";
import { pageHeadSaying } from "../../controls/panel";
import { readQueueList } from "../../generated/records";
import { ListPage } from "../../kit/list-page";
import { listView, newsPill, nothingFound, searchBox } from "../../kit/list-view";
import { Column, RowPage } from "../../kit/row";
import { JsonReader } from "../../lib/json-reader";
import { box, leaf, Node, nothing } from "../../lib/node";
import { counted } from "../../lib/number";
import { encode } from "../../lib/percent";
import { Mark, Model, noMark } from "../../model/model";
import { QueueRow } from "./row";

const COLUMNS: Column[] = [
  new Column("", "Queue", "name", ""),
  new Column("w6", "State", "stuck", ""),
  new Column("num w4", "Due", "-waiting", "waiting"),
  new Column("num w4 w-mid", "Running", "", ""),
  new Column("num w4 w-mid", "Scheduled", "", ""),
  new Column("num w4", "Failed", "-failed", ""),
  new Column("num w5 w-opt", "Oldest waits", "oldest", ""),
  new Column("w8 w-opt", "Held by", "", ""),
];

export class QueuesPage extends ListPage {
  /** How many there are; the first page tells. */
  private total: i64 = -1;

  constructor() {
    super("queues", "/queues");
    this.label = "Queues";
    this.drawing = LAYERS;
    this.letter = "q";
    this.inBar = true;
    this.choosable = false;
  }

  override title(): string {
    return "Queues";
  }

  override mark(m: Model): Mark {
    const stuck = m.facts.incidentsOf("stuck_queue");
    return stuck > 0 ? new Mark(`${stuck} stuck`, "red") : noMark;
  }

  override one(): string {
    return "queue";
  }

  override many(): string {
    return "queues";
  }

  override columns(_m: Model): Column[] {
    return COLUMNS;
  }

  override source(_m: Model): string {
    const sort = this.address.value("sort");
    const search = this.address.value("search");
    let path = "api/queues?limit=100";
    if (sort.length > 0) path += "&sort=" + encode(sort);
    if (search.length > 0) path += "&search=" + encode(search);
    return path;
  }

  override read(body: string): RowPage {
    const r = new JsonReader(body);
    const list = readQueueList(r);
    r.end();
    const page = new RowPage();
    if (r.failed) page.fault = r.error;
    const next = list.nextCursor;
    page.next = next === null ? "" : next;
    for (let i = 0; i < list.queues.length; i++) page.rows.push(new QueueRow(list.queues[i]));
    if (!r.failed && list.count !== i64.MIN_VALUE) this.total = list.count;
    return page;
  }

  override view(m: Model): Node {
    const count = this.total < 0 ? "" : counted(this.total, "queue", "queues");
    return box("div", "queues-page", [
      pageHeadSaying("Queues", "The jobs of a named queue run one after the other.", []),
      box("div", "meta", [
        searchBox(this, "Search queues by name"),
        count.length > 0 ? leaf("span", "", count) : nothing,
        newsPill(this),
      ]),
      listView(m, this, "Queues", this.none()),
    ]);
  }

  private none(): Node {
    if (this.address.value("search").length > 0) return nothingFound(this);
    return empty("There are no named queues", "Jobs without a queue run side by side.");
  }
}
