/** The list of workers. Below it, the jobs that have run longest, and differences between the workers. */
import { link } from "../../controls/button";
import { empty } from "../../controls/empty";
import { CPU } from "../../controls/icon";
import { pageHeadWith } from "../../controls/panel";
import { readWorkerList, WorkerCounts, WorkerDifference } from "../../generated/records";
import { after } from "../../host";
import { ListPage } from "../../kit/list-page";
import { bulkBar, listView, newsPill, nothingFound, searchBox } from "../../kit/list-view";
import { Row, RowPage, rowPage } from "../../kit/row";
import { unlockVerb, verbArg, withUnlock, writeButton } from "../../kit/verb";
import { JsonReader } from "../../lib/json-reader";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { countText, numberText, partText } from "../../lib/number";
import { Mark, Model, noMark } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { Pending } from "../../model/requests";
import { Shortcut } from "../../model/shortcut";
import { fetchedJobs, fits } from "../../parts/worker";
import { differences } from "./differences";
import { COLUMNS, WorkerRow } from "./row";
import { runningLongest } from "./running";

const BEAT_MS: f64 = 15000;

export class WorkersPage extends ListPage {
  private counts: WorkerCounts = WorkerCounts.empty();
  private differences: WorkerDifference[] = [];

  constructor() {
    super("workers", "/workers");
    this.label = "Workers";
    this.drawing = CPU;
    this.letter = "w";
    this.one = "worker";
    this.many = "workers";
    this.heads = COLUMNS;
    this.usualSort = "state";
    this.rank = "not responding first";
  }

  override mark(m: Model): Mark {
    if (!m.facts.has("pulse")) return noMark;
    const pulse = m.facts.pulse;
    const all = pulse.alive + pulse.stale;
    if (pulse.stale === 0)
      return new Mark(numberText(all), m.facts.incidentsOf("no_worker") > 0 ? "red" : "");
    return new Mark(partText(pulse.alive, all), pulse.alive === 0 ? "red" : "amber");
  }

  override source(_m: Model): string {
    return this.listOf("api/workers") + "&fields=row";
  }

  /** Requests the workers again after 15 seconds, even if no count of jobs has changed: heartbeats may have arrived. */
  override refresh(m: Model): void {
    if (this.rows.isDue(m, BEAT_MS)) this.rows.request(m, this.here(m), true);
  }

  override read(body: string): RowPage {
    const r = new JsonReader(body);
    const list = readWorkerList(r);
    const page = rowPage(r, list.nextCursor);
    if (r.failed) return page;
    for (let i = 0; i < list.workers.length; i++) page.rows.push(new WorkerRow(list.workers[i]));
    this.counts = list.counts;
    this.differences = list.differences;
    return page;
  }

  override shortcuts(m: Model): Shortcut[] {
    return withUnlock(m, this.list, super.shortcuts(m), "workers.unlock");
  }

  override act(m: Model, verb: string, arg: string, value: string): void {
    if (verb === "unlock") this.unlock(arg);
    else super.act(m, verb, arg, value);
  }

  /** Opens the dialog that unlocks the worker `key`, or all selected workers if `key` is empty. */
  private unlock(key: string): void {
    const ids = key.length > 0 ? [key] : this.list.selected.keys();
    if (ids.length === 0) return;
    const subject = ids.length === 1 ? ids[0] : countText(ids.length, "worker", "workers");
    after(0, "ask.verb", verbArg(unlockVerb(`Unlock ${subject}…`, ids)));
  }

  override aim(_m: Model, dialog: OpenDialog): void {
    // A selected worker may be on another page of the list, so its row may be missing in `list.rows`.
    const rows = this.list.rows.concat(this.list.selected.values());
    for (let i = 0; i < rows.length; i++) dialog.holders.push((rows[i] as WorkerRow).worker);
  }

  override onWrite(write: Pending): void {
    if (write.path === "api/maintenance") this.changed();
  }

  override view(m: Model): Node {
    return box("div", "workers-page", [
      pageHeadWith("Workers", this.summary(), [this.sweep(m)]),
      box("div", "meta", [
        searchBox(this, "Find a worker by id, host, version or task"),
        newsPill(this),
      ]),
      listView(m, this, "Workers", this.none()),
      leaf(
        "p",
        "hint",
        "Not responding: the heartbeat is overdue. No heartbeats: a Graphile worker, or one without recovery.",
      ),
      box("div", "cols a", [runningLongest(m, this.list.rows), differences(m, this.differences)]),
      bulkBar(m, this, nothing, [writeButton(m, "Unlock…", "workers.unlock", "", "p")]),
    ]);
  }

  /**
   * Returns `5 of 6 alive (61 of 120 slots busy); not responding first`, for example; empty before the first answer.
   */
  private summary(): string {
    if (!this.rows.ready) return "";
    const counts = this.counts;
    const all = counts.alive + counts.stale;
    const unknown = counts.unknown > 0 ? `, ${numberText(counts.unknown)} without heartbeats` : "";
    const order = counts.stale > 0 && this.sorted === this.usualSort ? "; " + this.rank : "";
    return `${partText(counts.alive, all)} alive${this.busy()}${unknown}${order}`;
  }

  /**
   * Returns how many slots are busy, as text. It is empty unless all live workers are on this page, report their slots,
   * and run no more jobs than they have slots.
   */
  private busy(): string {
    let slots: i64 = 0;
    let running: i64 = 0;
    let fetched: i64 = 0;
    let alive: i64 = 0;
    const rows: Row[] = this.list.rows;
    for (let i = 0; i < rows.length; i++) {
      const worker = (rows[i] as WorkerRow).worker;
      if (worker.state !== "alive" || worker.slots === i64.MIN_VALUE) continue;
      alive++;
      slots += worker.slots;
      running += worker.running.value;
      fetched += fetchedJobs(worker);
      if (!fits(worker, worker.running)) return "";
    }
    if (alive === 0 || alive !== this.counts.alive) return "";
    const more = fetched > 0 ? `, ${numberText(fetched)} more fetched` : "";
    return ` (${partText(running, slots)} slots busy${more})`;
  }

  private sweep(m: Model): Node {
    if (this.counts.stale === 0 || !m.access.canWrite) return nothing;
    return link("/maintenance", "btn", [text("Sweep workers…")]);
  }

  private none(): Node {
    if (this.address.value("search").length > 0) return nothingFound(this);
    return empty(
      "No workers",
      "Workers are listed once they send a heartbeat or hold a lock.",
      "/jobs",
      "All jobs",
    );
  }
}
