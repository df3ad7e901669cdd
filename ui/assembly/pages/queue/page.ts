/** The page of one named queue: its lock or pause, its limits, the numbers of its jobs, and the next jobs in order. */
import { link } from "../../controls/button";
import { DOTS, icon } from "../../controls/icon";
import { menu } from "../../controls/menu";
import { plainPanel } from "../../controls/panel";
import { countedValue } from "../../controls/value";
import { ListedQueue, QueueDetails, readQueueDetails } from "../../generated/records";
import { ServerData } from "../../kit/server-data";
import { writeButton } from "../../kit/verb";
import { JsonReader } from "../../lib/json-reader";
import { box, Node, nothing, text } from "../../lib/node";
import { encode } from "../../lib/percent";
import { Address } from "../../model/address";
import { isPathPart, queryPath, queueQuery } from "../../model/links";
import { Model } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { Pending } from "../../model/requests";
import { keyOf, Shortcut } from "../../model/shortcut";
import { limitsOf, requestLimits, setButton, setKey, setShortcut } from "../../operations/limiting";
import { pauseButton, pauseShortcut } from "../../operations/pausing";
import { HolderOf } from "../../parts/holder";
import { limitLines } from "../../parts/limit";
import { Acknowledgements } from "../../parts/pause";
import { isStuck, queueState } from "../../parts/queue";
import { NamedPage } from "../named-page";
import { lockOfQueue } from "./holder";
import { numbers, order } from "./jobs";

/** The path for a queue whose name cannot be part of a path. The parameter `name` of the address contains the name. */
const NAMED = "/queue";
/** The maximum number of next jobs that are shown. */
const SHOWN = 15;

export class QueuePage extends NamedPage {
  private holder: HolderOf = new HolderOf(new ServerData("queue.holder"));
  private acknowledged: Acknowledgements = new Acknowledgements("queue");
  private details: QueueDetails = QueueDetails.empty();

  constructor() {
    super("queue", "/queues", "Queues", new ServerData("queue.details"));
  }

  override matches(address: Address): bool {
    return super.matches(address) || address.path === NAMED;
  }

  protected override nameIn(address: Address): string {
    return address.path === NAMED ? address.value("name") : super.nameIn(address);
  }

  override reset(_m: Model): void {
    this.data.reset();
    this.holder.data.reset();
    this.acknowledged.data.reset();
    this.details = QueueDetails.empty();
  }

  protected override get at(): string {
    const name = encode(this.wanted);
    return isPathPart(this.wanted)
      ? `api/queues/${name}?limit=${SHOWN}`
      : `api/queue?name=${name}&limit=${SHOWN}`;
  }

  override load(m: Model): void {
    requestLimits(m);
    super.load(m);
  }

  override refresh(m: Model): void {
    super.refresh(m);
    this.acknowledged.follow(m, this.details.queue.paused !== null);
  }

  override onAnswer(m: Model, request: Pending, body: string): void {
    if (request.topic === this.acknowledged.data.topic) {
      this.acknowledged.onAnswer(m, body);
      return;
    }
    if (request.topic === this.holder.data.topic) {
      this.holder.onAnswer(m, body);
      return;
    }
    const r = new JsonReader(body);
    const details = readQueueDetails(r);
    if (!this.data.finish(m, r)) return;
    this.details = details;
    this.acknowledged.follow(m, details.queue.paused !== null);
    const by = details.queue.lockedBy;
    if (by !== null) this.holder.request(m, by, request.isQuiet);
  }

  override onFailure(_m: Model, request: Pending, status: i32, reason: string): void {
    const topic = request.topic;
    if (topic === this.holder.data.topic) this.holder.data.failedWith(status, reason);
    // If the acknowledgements cannot be loaded, the pause is still shown.
    else if (topic !== this.acknowledged.data.topic) this.data.failedWith(status, reason);
  }

  override aim(_m: Model, dialog: OpenDialog): void {
    dialog.holders.push(this.holder.holder);
  }

  protected override state(m: Model): Node {
    return queueState(m, this.details.queue);
  }

  protected override acts(m: Model): Node[] {
    const queue = this.details.queue;
    const target = "queue " + queue.queueName;
    const isPaused = queue.paused !== null;
    return [
      seeJobs(queue),
      isPaused ? writeButton(m, "Change…", "ask.pause", target, "") : nothing,
      pauseButton(m, target, isPaused, isPaused ? "p" : ""),
      menu("More actions", [icon(DOTS)], [setButton(m, "Set limit…", target, "q")]),
    ];
  }

  override shortcuts(m: Model): Shortcut[] {
    if (!this.isShown || !m.access.canWrite) return [];
    const queue = this.details.queue;
    const target = "queue " + queue.queueName;
    return [
      pauseShortcut(target, queue.paused !== null, keyOf("pause"), "This queue"),
      setShortcut(target, setKey(), "This queue"),
    ];
  }

  protected override notFoundText(): string {
    return super.notFoundText() + " Queues without jobs can be deleted by a cleanup.";
  }

  private limits(m: Model): Node {
    const queue = this.details.queue;
    return limitLines(limitsOf(m, "queue " + queue.queueName), queue.running.value);
  }

  protected override body(m: Model): Node {
    const details = this.details;
    const known = this.holder.has(lockedBy(details.queue)) ? this.holder : null;
    return box("div", isStuck(details.queue) ? "is-stuck" : "", [
      plainPanel("Lock", [
        box("div", "pb", [
          lockOfQueue(m, details, known),
          details.queue.paused !== null ? this.acknowledged.view() : nothing,
        ]),
        numbers(m, details),
        this.limits(m),
      ]),
      order(m, details),
    ]);
  }
}

function lockedBy(queue: ListedQueue): string {
  const by = queue.lockedBy;
  return by === null ? "" : by;
}

function seeJobs(queue: ListedQueue): Node {
  const path = queryPath(queueQuery(queue.queueName));
  return link(path, "btn", [text("See " + countedValue(queue.total, "job", "jobs"))]);
}
