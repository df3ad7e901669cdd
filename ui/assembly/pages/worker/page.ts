/**
 * The page of a worker. It shows whether the worker responds, what the worker runs and has locked, how many jobs wait
 * behind these locks, and details of the worker.
 */
import { link } from "../../controls/button";
import { stateWith } from "../../controls/glyph";
import { ServerData } from "../../kit/server-data";
import { unlockVerb, verbArg, verbButton } from "../../kit/verb";
import { box, Node, text } from "../../lib/node";
import { queryPath, quoteIfNeeded } from "../../model/links";
import { Model } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { Pending } from "../../model/requests";
import { keyOf, Shortcut } from "../../model/shortcut";
import { HolderOf, holdsAny } from "../../parts/holder";
import { isOld, levelTone } from "../../parts/worker";
import { NamedPage } from "../named-page";
import { about } from "./about";
import { holds } from "./holds";

const BEAT_MS: f64 = 10000;

export class WorkerPage extends NamedPage {
  private readonly of: HolderOf;

  constructor() {
    const data = new ServerData("worker.holder");
    super("worker", "/workers", "Workers", data);
    this.of = new HolderOf(data);
  }

  protected override get at(): string {
    return "";
  }

  override load(m: Model): void {
    this.of.request(m, this.wanted);
  }

  /** Requests the worker again after 10 s even if no count of jobs has changed: it may have sent a heartbeat. */
  override refresh(m: Model): void {
    if (this.data.isDue(m, BEAT_MS)) this.of.request(m, this.wanted, true);
  }

  override onAnswer(m: Model, _request: Pending, body: string): void {
    this.of.onAnswer(m, body);
  }

  override aim(_m: Model, dialog: OpenDialog): void {
    dialog.holders.push(this.of.holder);
  }

  protected override state(_m: Model): Node {
    const worker = this.of.holder;
    const state = worker.state;
    const words =
      state === "alive" ? "Alive" : state === "stale" ? "Not responding" : "No heartbeats";
    return box("span", levelTone(worker), [stateWith(state, words)]);
  }

  protected override body(m: Model): Node {
    return box("div", "cols b", [holds(m, this.of.holder), about(m, this.of.holder)]);
  }

  protected override notFoundText(): string {
    return `“${this.wanted}” sends no heartbeats and holds no lock. It may have shut down.`;
  }

  override shortcuts(m: Model): Shortcut[] {
    const worker = this.of.holder;
    if (!m.access.canWrite || worker.state === "alive" || !holdsAny(worker)) return [];
    const verb = unlockVerb("Unlock…", [worker.workerId]);
    return [
      new Shortcut(keyOf("force-unlock"), verb.label, "ask.verb", verbArg(verb), "This worker"),
    ];
  }

  /** Returns the buttons. Only a worker that is not alive and holds locks has the button Unlock. */
  protected override acts(m: Model): Node[] {
    const worker = this.of.holder;
    const jobs = link(queryPath("worker:" + quoteIfNeeded(worker.workerId)), "btn", [
      text("See its jobs"),
    ]);
    if (worker.state === "alive" || !holdsAny(worker)) return [jobs];
    const verb = unlockVerb("Unlock…", [worker.workerId]);
    return [jobs, verbButton(m, verb, isOld(worker) ? "p" : "")];
  }
}
