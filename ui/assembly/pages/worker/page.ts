/** One worker: whether it responds, what it runs and has locked, which jobs wait for it, its details. */
import { link } from "../../controls/button";
import { empty } from "../../controls/empty";
import { stateSaying } from "../../controls/glyph";
import { crumbs, heading, headOf } from "../../controls/panel";
import { ListedWorker } from "../../generated/records";
import { unlockVerb, verbButton } from "../../kit/verb";
import { box, Node, nothing, text } from "../../lib/node";
import { decode } from "../../lib/percent";
import { Address } from "../../model/address";
import { named, queryPath } from "../../model/links";
import { Model, Page } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { Pending } from "../../model/requests";
import { exactName } from "../../parts/exact-name";
import { HolderOf, holdsAny } from "../../parts/holder";
import { isOld, levelTone } from "../../parts/worker";
import { about } from "./about";
import { holds } from "./holds";

const START = "/workers/";
const BEAT_MS: f64 = 10000;

export class WorkerPage extends Page {
  private of: HolderOf = new HolderOf("worker");
  /** The id in the address. */
  private wanted: string = "";

  constructor() {
    super("worker", START);
    this.under = "workers";
  }

  override matches(address: Address): bool {
    return address.path.startsWith(START);
  }

  override title(): string {
    return "Worker " + this.wanted;
  }

  override turn(_m: Model, address: Address): void {
    this.wanted = decode(address.path.substring(START.length));
  }

  override forget(_m: Model): void {
    this.of.asked.forget();
    this.of.holder = ListedWorker.empty();
  }

  override load(m: Model): void {
    this.of.ask(m, this.wanted);
  }

  /** Reads again at every heartbeat interval: heartbeats change even when no job does. */
  override refresh(m: Model): void {
    if (this.of.asked.isDue(m, BEAT_MS)) this.of.ask(m, this.wanted, true);
  }

  override take(m: Model, _request: Pending, body: string): void {
    this.of.take(m, body);
  }

  override miss(_m: Model, _request: Pending, status: i32, reason: string): void {
    this.of.asked.missed(status, reason);
  }

  override aim(m: Model, dialog: OpenDialog): void {
    dialog.note = this.of.preview(m.times);
  }

  override view(m: Model): Node {
    const asked = this.of.asked;
    const ready = asked.ready && !asked.missing;
    const worker = this.of.holder;
    return box("div", "worker-page", [
      crumbs([link("/workers", "", [text("Workers")])]),
      headOf(
        [heading([exactName(this.wanted, "")]), ready ? headState(worker) : nothing],
        "",
        ready ? this.acts(m) : [],
      ),
      asked.missing
        ? gone(this.wanted)
        : ready
          ? box("div", "cols b", [holds(m, worker), about(m, worker)])
          : asked.placeholder(m, 6),
    ]);
  }

  /** Without heartbeats a user decides whether to unlock the worker; a worker that responds keeps its locks. */
  private acts(m: Model): Node[] {
    const worker = this.of.holder;
    const jobs = link(queryPath("worker:" + named(worker.workerId)), "btn", [text("See its jobs")]);
    if (worker.state === "alive" || !holdsAny(worker)) return [jobs];
    const verb = unlockVerb("Unlock…", [worker.workerId]);
    return [jobs, verbButton(m, verb, isOld(worker) ? "p" : "")];
  }
}

function headState(worker: ListedWorker): Node {
  const state = worker.state;
  const words =
    state === "alive" ? "Alive" : state === "stale" ? "Not responding" : "No heartbeats";
  return box("span", levelTone(worker), [stateSaying(state, words)]);
}

function gone(name: string): Node {
  return empty(
    "No worker has this name",
    `“${name}” sends no heartbeats and holds no lock. It may have shut down.`,
    "/workers",
    "All workers",
  );
}
