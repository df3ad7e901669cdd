/** The page of one operation: its progress, its receipt and its jobs. */
import { drawnButton, link } from "../../controls/button";
import { empty } from "../../controls/empty";
import { COPY } from "../../controls/icon";
import { crumbs, heading, headOf } from "../../controls/panel";
import {
  Operation,
  OperationJobs,
  OperationResults,
  readOperation,
  readOperationJobs,
  readOperationResults,
} from "../../generated/records";
import { copy } from "../../host";
import { ServerData } from "../../kit/server-data";
import { writeButton } from "../../kit/verb";
import { JsonReader } from "../../lib/json-reader";
import { box, Node, nothing, text } from "../../lib/node";
import { parseWhole } from "../../lib/number";
import { Address } from "../../model/address";
import { Model, Page } from "../../model/model";
import { Pending } from "../../model/requests";
import { Shortcut } from "../../model/shortcut";
import { update } from "../../operations/news";
import { isAtWork, isResumable, titleOf } from "../../operations/words";
import { outcomePanel, runsAgain, shownOutcome } from "./outcomes";
import { receipt } from "./receipt";
import { body } from "./view";

const START = "/activity/";
/** After the event stream has sent the operation, the page does not request the operation for this long. */
const EVENT_MS: f64 = 3000;
/** The interval of requests for the operation while a process runs it or its undo. */
const EVERY_MS: f64 = 2000;
/** The interval of requests for the operation's jobs and their results while these are likely to change. */
const RESULTS_MS: f64 = 3000;
/** The interval of all these requests at other times. */
const SELDOM_MS: f64 = 15000;

export class OperationPage extends Page {
  private id: i64 = 0;
  private operation: Operation | null = null;
  private eventAt: f64 = 0;
  private readonly data: ServerData = new ServerData("operation.one");
  private readonly jobsData: ServerData = new ServerData("operation.jobs");
  private readonly resultsData: ServerData = new ServerData("operation.results");
  private results: OperationResults | null = null;
  private jobs: OperationJobs = OperationJobs.empty();
  private address: Address = new Address("", new Map<string, string>());

  constructor() {
    super("operation", START);
    this.under = "activity";
  }

  override matches(address: Address): bool {
    return address.path.startsWith(START);
  }

  override title(): string {
    const operation = this.operation;
    return operation === null ? `Operation ${this.id}` : titleOf(operation);
  }

  override turn(m: Model, address: Address): void {
    const id = parseWhole(address.path.substring(START.length));
    const before = this.address;
    this.address = address;
    if (id.value !== this.id || !id.valid) this.reset(m);
    if (before.with("", "") !== address.with("", "") || this.cursor !== before.value("cursor")) {
      this.jobsData.reset();
    }
    this.id = id.value;
    if (m.facts.left === this.id) m.facts.left = 0;
  }

  override leave(m: Model): void {
    const operation = this.operation;
    if (operation !== null && isAtWork(operation)) m.facts.left = operation.id;
  }

  override reset(_m: Model): void {
    this.operation = null;
    this.data.reset();
    this.jobsData.reset();
    this.resultsData.reset();
    this.results = null;
    this.jobs = OperationJobs.empty();
  }

  private show(operation: Operation): void {
    this.operation = operation;
    this.data.ready = true;
  }

  private get cursor(): string {
    return this.address.value("cursor");
  }

  override load(m: Model): void {
    const known = m.facts.operation;
    if (known !== null && known.id === this.id) this.show(known);
    this.data.request(m, this.source);
    this.requestJobs(m);
    this.requestResults(m);
  }

  /** Only a retry or run-now has results: what became of the jobs after the operation changed them. */
  private requestResults(m: Model): void {
    const operation = this.operation;
    if (operation === null || operation.done === 0 || !runsAgain(operation)) return;
    this.resultsData.request(m, this.source + "/results", true);
  }

  private get source(): string {
    return `api/operations/${this.id}`;
  }

  private requestJobs(m: Model, isQuiet: bool = false): void {
    const operation = this.operation;
    if (operation === null) return;
    const which = shownOutcome(operation, this.address);
    const from = this.cursor.length > 0 ? "&cursor=" + this.cursor : "";
    this.jobsData.request(m, `${this.source}/jobs?outcome=${which}&limit=100${from}`, isQuiet);
  }

  override refresh(m: Model): void {
    const operation = this.operation;
    if (operation === null) return;
    const isRecent = m.now - this.eventAt < EVENT_MS;
    const every = isAtWork(operation) ? EVERY_MS : SELDOM_MS;
    if (!isRecent && this.data.isDue(m, every)) this.data.request(m, this.source, true);
    const results = this.results;
    const isOpen =
      isAtWork(operation) || (results !== null && results.running + results.waiting > 0);
    const soon = isOpen ? RESULTS_MS : SELDOM_MS;
    // isDue() is false before the first request.
    const isFirst = isNaN(this.resultsData.requestedAt);
    if (isFirst || this.resultsData.isDue(m, soon)) this.requestResults(m);
    if (this.cursor.length === 0 && this.jobsData.isDue(m, soon)) this.requestJobs(m, true);
  }

  override onEvent(m: Model, event: string, _data: string): void {
    const latest = m.facts.operation;
    if (event !== "operation" || latest === null || latest.id !== this.id) return;
    const before = this.operation;
    const wasOver = before !== null && !isAtWork(before);
    this.eventAt = m.now;
    this.show(latest);
    if (wasOver || isAtWork(latest)) return;
    // The operation has just ended or paused.
    this.requestJobs(m);
    this.requestResults(m);
  }

  override onAnswer(m: Model, request: Pending, answer: string): void {
    const r = new JsonReader(answer);
    if (request.topic === this.jobsData.topic) {
      const jobs = readOperationJobs(r);
      if (this.jobsData.finish(m, r)) this.jobs = jobs;
      return;
    }
    if (request.topic === this.resultsData.topic) {
      const results = readOperationResults(r);
      if (this.resultsData.finish(m, r)) this.results = results;
      return;
    }
    const operation = readOperation(r);
    if (!this.data.finish(m, r)) return;
    const isFirst = this.operation === null;
    this.show(operation);
    update(m, operation);
    if (!isFirst) return;
    this.requestJobs(m);
    this.requestResults(m);
  }

  override onFailure(m: Model, request: Pending, status: i32, reason: string): void {
    if (request.isWrite) m.notices.bad(reason);
    else if (request.topic === this.data.topic) this.data.failedWith(status, reason);
    else if (request.topic === this.resultsData.topic) this.resultsData.failedWith(status, reason);
    else this.jobsData.failedWith(status, reason);
  }

  override act(m: Model, verb: string, _arg: string, _value: string): void {
    const operation = this.operation;
    if (operation === null) return;
    if (verb === "copy") copy(receipt(m, operation));
    else if ((verb === "pause" || verb === "resume") && m.access.canWrite) {
      m.requests.write(m.access, new Pending("operation.change", `${this.source}/${verb}`, "{}"));
    }
  }

  override shortcuts(_m: Model): Shortcut[] {
    return [new Shortcut("", "Copy the receipt", "operation.copy", "", "Operation")];
  }

  override view(m: Model): Node {
    const operation = this.operation;
    if (operation === null) return this.without(m);
    return box("div", "operation-page", [
      crumbs([link("/activity", "", [text("Activity")]), text(`#${this.id}`)]),
      headOf([heading([text(titleOf(operation))])], operation.q, acts(m, operation)),
      body(m, operation, this.results),
      outcomePanel(m, operation, this.address, this.jobsData, this.jobs),
    ]);
  }

  private without(m: Model): Node {
    return box("div", "", [
      crumbs([link("/activity", "", [text("Activity")])]),
      headOf([heading([text("Operation")])], "", []),
      this.data.missing
        ? empty(
            `Operation ${this.id} not found`,
            "Operations are kept for 90 days; without the extension “operations”, until the server stops.",
            "/activity",
            "Activity",
          )
        : this.data.placeholder(m, 6),
    ]);
  }
}

function acts(m: Model, operation: Operation): Node[] {
  const work = isAtWork(operation);
  const resumable = isResumable(operation);
  const canPause = work && operation.state !== "undoing";
  return [
    work || resumable ? nothing : drawnButton(COPY, "Copy receipt", "operation.copy", ""),
    canPause ? writeButton(m, "Pause", "operation.pause", "", "") : nothing,
    resumable ? writeButton(m, "Resume", "operation.resume", "", "p") : nothing,
    work || resumable ? writeButton(m, "Stop…", "ask.change", `stop ${operation.id}`, "") : nothing,
  ];
}
