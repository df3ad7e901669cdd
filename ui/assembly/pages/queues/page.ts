/** The list of named queues, with tabs for their states and a search by name. */
import { empty } from "../../controls/empty";
import { LAYERS } from "../../controls/icon";
import { pageHeadWith } from "../../controls/panel";
import { tab, tabs } from "../../controls/tabs";
import { ListedWorker, QueueStates, readQueueList } from "../../generated/records";
import { after } from "../../host";
import { ListPage } from "../../kit/list-page";
import { listCountText, listView, newsPill, nothingFound, searchBox } from "../../kit/list-view";
import { RowPage, rowPage } from "../../kit/row";
import { ServerData } from "../../kit/server-data";
import { unlockVerb, verbArg, withUnlock } from "../../kit/verb";
import { JsonReader } from "../../lib/json-reader";
import { box, leaf, Node, nothing } from "../../lib/node";
import { numberText } from "../../lib/number";
import { encode } from "../../lib/percent";
import { Mark, Model, noMark } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { Pending } from "../../model/requests";
import { Shortcut } from "../../model/shortcut";
import { withLimit } from "../../operations/limiting";
import { withPause } from "../../operations/pausing";
import { HolderOf } from "../../parts/holder";
import { COLUMNS, QueueRow } from "./row";

export class QueuesPage extends ListPage {
  private holder: HolderOf = new HolderOf(new ServerData("queues.holder"));
  /** The number of queues in each state; null: unknown. */
  private known: QueueStates | null = null;

  constructor() {
    super("queues", "/queues");
    this.label = "Queues";
    this.drawing = LAYERS;
    this.letter = "q";
    this.one = "queue";
    this.many = "queues";
    this.heads = COLUMNS;
    this.inBar = true;
    this.isSelectable = false;
    this.usualSort = "stuck";
    this.rank = "by severity";
    this.everyMs = 15000;
  }

  override mark(m: Model): Mark {
    const stuck = m.facts.incidentsOf("stuck_queue");
    if (stuck === 0) return noMark;
    // One incident may be about many queues of one worker.
    return new Mark(hasMany(m) ? "stuck" : `${stuck} stuck`, "red");
  }

  override source(_m: Model): string {
    const only = this.address.value("only");
    const path = this.listOf("api/queues");
    return only.length > 0 ? path + "&only=" + encode(only) : path;
  }

  override read(body: string): RowPage {
    const r = new JsonReader(body);
    const list = readQueueList(r);
    const page = rowPage(r, list.nextCursor);
    if (r.failed) return page;
    for (let i = 0; i < list.queues.length; i++) page.rows.push(new QueueRow(list.queues[i]));
    // Only an answer for the first page has `count`.
    page.count = list.count;
    if (page.count !== i64.MIN_VALUE) this.known = list.states;
    return page;
  }

  override shortcuts(m: Model): Shortcut[] {
    const keys = withUnlock(m, this.list, super.shortcuts(m), "queues.unlock");
    return withLimit(m, this.list, withPause(m, this.list, keys));
  }

  override act(m: Model, verb: string, arg: string, value: string): void {
    // The worker's locks are requested first, because the dialog shows what will be unlocked.
    if (verb === "unlock") this.holder.request(m, arg);
    else super.act(m, verb, arg, value);
  }

  override onAnswer(m: Model, request: Pending, body: string): void {
    if (request.topic !== this.holder.data.topic) {
      super.onAnswer(m, request, body);
      return;
    }
    this.holder.onAnswer(m, body);
    this.openUnlock();
  }

  override onFailure(m: Model, request: Pending, status: i32, reason: string): void {
    if (request.topic !== this.holder.data.topic) super.onFailure(m, request, status, reason);
    // The worker is no longer listed, but its lock can still be removed.
    else if (status === 404) this.openUnlock();
    else m.notices.bad(reason);
  }

  private openUnlock(): void {
    const worker = this.holder.worker;
    after(0, "ask.verb", verbArg(unlockVerb(`Unlock ${worker}…`, [worker])));
  }

  override aim(_m: Model, dialog: OpenDialog): void {
    dialog.holders.push(this.holder.holder);
    // A later dialog must not show these locks.
    this.holder.holder = ListedWorker.empty();
  }

  /** Cancels the request for the locks, so that the dialog does not open over another page. */
  override leave(m: Model): void {
    super.leave(m);
    m.requests.cancel(this.holder.data.topic);
  }

  override view(m: Model): Node {
    const none = this.none();
    return box("div", "queues-page", [
      pageHeadWith("Queues", this.address.value("only").length > 0 ? "" : listCountText(this), []),
      this.states(),
      box("div", "meta", [searchBox(this, "Find a queue by name"), newsPill(this)]),
      listView(m, this, "Queues", none),
      leaf(
        "p",
        "hint",
        "A queue runs one job at a time, unless a limit allows more. A locked queue is not in Failed, Ready or Scheduled. Stuck: its worker is not responding.",
      ),
    ]);
  }

  private states(): Node {
    const known = this.known;
    const none = i64.MIN_VALUE;
    return tabs("Which queues", [
      this.state("", "All", known === null ? none : this.count),
      this.state("stuck", "Stuck", known === null ? none : known.stuck),
      this.state("failed", "Failed", known === null ? none : known.failed),
      this.state("ready", "Ready", known === null ? none : known.ready),
      this.state("running", "Locked", known === null ? none : known.running),
      this.state("scheduled", "Scheduled", known === null ? none : known.scheduled),
      this.state("idle", "Idle", known === null ? none : known.idle),
    ]);
  }

  private state(only: string, words: string, count: i64): Node {
    const number = count === i64.MIN_VALUE ? "" : numberText(count);
    const isOn = this.address.value("only") === only;
    return tab(this.address.with("only", only), words, number, nothing, isOn);
  }

  /** Returns a warning for the empty tab `only` if queues may be missing, because not all jobs were counted. */
  private meaning(only: string): string {
    const known = this.known;
    if (only === "stuck" || only === "running") return "";
    return known === null || known.failed === i64.MIN_VALUE
      ? "Only some jobs were counted, so there may be such queues."
      : "";
  }

  private none(): Node {
    const only = this.address.value("only");
    if (this.address.value("search").length > 0) return nothingFound(this);
    if (only.length > 0) {
      const title = `No ${only === "running" ? "locked" : only} queues`;
      return empty(title, this.meaning(only), "/queues", "All queues");
    }
    return empty(
      "No named queues",
      "Jobs of a named queue run one at a time.",
      "/jobs",
      "All jobs",
    );
  }
}

function hasMany(m: Model): bool {
  const list = m.facts.incidents.incidents;
  for (let i = 0; i < list.length; i++) if (list[i].id.startsWith("stuck_queues:")) return true;
  return false;
}
