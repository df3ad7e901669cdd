/** The page of one error group: its failures, its tasks and queues, and what its jobs have in common. */
import { badge, drawnButton, link } from "../../controls/button";
import { empty } from "../../controls/empty";
import { COPY } from "../../controls/icon";
import { crumbs, heading, headOf } from "../../controls/panel";
import { countedValue, valueText } from "../../controls/value";
import { firstActionFor, JobAction, withJobs } from "../../generated/commands";
import { Fix, Group } from "../../generated/records";
import { copy } from "../../host";
import { errorLabel } from "../../kit/group-row";
import { ServerData } from "../../kit/server-data";
import { operationVerb, verbArg, writeButton } from "../../kit/verb";
import { box, Node, nothing, text } from "../../lib/node";
import { Address } from "../../model/address";
import { queryPath } from "../../model/links";
import { Model, Page } from "../../model/model";
import { Pending } from "../../model/requests";
import { Shortcut } from "../../model/shortcut";
import { isAtWork } from "../../operations/words";
import { commonPanel } from "../../parts/common";
import { ErrorGroup, GroupsAnswer, groupsPath, isOld, valueOf } from "../../parts/error-group";
import { Details } from "./details";
import { report } from "./report";
import { errorView, newest, numbers, places } from "./view";

const START = "/errors/";
const EVERY_MS: f64 = 15000;
const NEVER: f64 = -1;

export class ErrorPage extends Page {
  private failed: ServerData = new ServerData("error.failed");
  private retrying: ServerData = new ServerData("error.retrying");
  private details: Details = new Details();
  private group: ErrorGroup = new ErrorGroup("", "");
  /**
   * The time of the group's last failure that was known when the details were last requested; 0: the time was unknown;
   * NEVER: the details have not been requested yet.
   */
  private detailedAt: f64 = NEVER;
  /** Whether only this group is requested, and not the list of the largest groups. */
  private alone: bool = false;
  private asOf: f64 = NaN;

  constructor() {
    super("error", START);
    this.under = "errors";
  }

  override matches(address: Address): bool {
    return address.path.startsWith(START);
  }

  override title(): string {
    return this.group.label.length > 0 ? "Error " + this.group.label : "Error";
  }

  override turn(m: Model, address: Address): void {
    const key = address.path.substring(START.length);
    if (key === this.group.key) return;
    this.reset(m);
    this.group = new ErrorGroup(key, "");
  }

  override reset(_m: Model): void {
    this.failed.reset();
    this.retrying.reset();
    this.details = new Details();
    this.detailedAt = NEVER;
    this.alone = false;
    this.group = new ErrorGroup(this.group.key, "");
  }

  override load(m: Model): void {
    this.detailedAt = NEVER;
    this.requestBoth(m);
  }

  /**
   * When an operation has stopped, requests only this group. The server caches the list of all groups, so the list may
   * be from before the operation.
   */
  override onEvent(m: Model, event: string, _data: string): void {
    const operation = m.facts.operation;
    if (event !== "operation" || operation === null || isAtWork(operation)) return;
    this.alone = true;
    this.requestBoth(m);
  }

  override refresh(m: Model): void {
    if (isOld(m, this.asOf) && this.failed.isDue(m, EVERY_MS)) this.requestBoth(m, true);
    else if (this.isKnown && this.detailedAt !== NEVER) this.follow(m);
  }

  private requestBoth(m: Model, isQuiet: bool = false): void {
    const alone = this.alone ? " group:" + this.group.key : "";
    this.failed.request(m, groupsPath("is:failed" + alone), isQuiet);
    this.retrying.request(m, groupsPath("is:retrying" + alone), isQuiet);
  }

  override onAnswer(m: Model, request: Pending, body: string): void {
    const isFailed = request.topic === this.failed.topic;
    if (!isFailed && request.topic !== this.retrying.topic) {
      this.details.onAnswer(m, request, body);
      return;
    }
    const data = isFailed ? this.failed : this.retrying;
    const answer = new GroupsAnswer(body);
    if (answer.fault.length > 0) {
      data.unreadable(answer.fault);
      return;
    }
    data.arrived(m);
    this.asOf = answer.groups.asOf;
    this.store(isFailed, answer.groups.groups);
    if (this.failed.ready && this.retrying.ready) this.onBoth(m);
  }

  private store(isFailed: bool, groups: Group[]): void {
    let found: Group | null = null;
    for (let i = 0; i < groups.length; i++) if (groups[i].key === this.group.key) found = groups[i];
    const before = this.group;
    const label = found === null ? before.label : found.label;
    this.group = new ErrorGroup(before.key, label);
    this.group.failed = isFailed ? found : before.failed;
    this.group.retrying = isFailed ? before.retrying : found;
  }

  private onBoth(m: Model): void {
    if (!this.isKnown) {
      if (this.alone) return;
      this.alone = true;
      this.failed.reset();
      this.retrying.reset();
      this.requestBoth(m);
    } else this.follow(m);
  }

  /** Requests the details once, and again after a new failure if the user is not reading the page. */
  private follow(m: Model): void {
    const group = this.group;
    const last = isNaN(group.last) ? 0 : group.last;
    if (this.detailedAt === last || (this.detailedAt !== NEVER && m.live.isRead(m.now))) return;
    this.detailedAt = last;
    this.details.request(m, group, this.query);
  }

  private get query(): string {
    return `${this.group.failedCount > 0 ? "is:failed" : "is:retrying"} ${this.group.query}`;
  }

  override onFailure(_m: Model, request: Pending, status: i32, reason: string): void {
    if (request.topic === this.failed.topic) this.failed.failedWith(status, reason);
    else if (request.topic === this.retrying.topic) this.retrying.failedWith(status, reason);
    else this.details.onFailure(request, status, reason);
  }

  override shortcuts(m: Model): Shortcut[] {
    const keys = [
      new Shortcut("", "Copy the report about this error", "error.report", "", "Error"),
    ];
    if (!this.isKnown || !m.access.canWrite) return keys;
    keys.push(new Shortcut("r", this.verbLabel, "ask.verb", verbArg(this.verb), "Error"));
    return keys;
  }

  override act(m: Model, verb: string, _arg: string, _value: string): void {
    if (verb === "report") copy(report(m, this.group, this.details));
    else this.details.panel.act(verb);
  }

  private get action(): JobAction {
    return firstActionFor(this.group.failedCount > 0 ? "failed" : "retrying") as JobAction;
  }

  /** The operation on the jobs of `query`: retry for failed jobs, run-now for retrying jobs. */
  private get verb(): Fix {
    const first = this.action;
    return operationVerb(first.name, first.command.verb + "…", this.query);
  }

  /** For example `Retry 8,400…`. */
  private get verbLabel(): string {
    const group = this.group;
    const count = valueOf(group.failedCount > 0 ? group.failed : group.retrying);
    return withJobs(this.action.ask, valueText(count)) + "…";
  }

  private get isKnown(): bool {
    return this.group.failed !== null || this.group.retrying !== null;
  }

  override view(m: Model): Node {
    const group = this.group;
    const isKnown = this.isKnown;
    const isOver = this.failed.ready && this.retrying.ready && !isKnown;
    return box("div", "error-page", [
      crumbs([link("/errors", "", [text("Errors")])]),
      headOf(
        [
          heading([group.label.length > 0 ? errorLabel(group.label) : text("Error")]),
          isKnown && group.isNew ? badge("new", "red") : nothing,
        ],
        "",
        isKnown ? this.acts(m) : [],
      ),
      isKnown ? this.body(m) : isOver ? over() : this.waiting(m),
    ]);
  }

  private acts(m: Model): Node[] {
    const all = this.group.failedCount > 0 ? this.group.failed : this.group.retrying;
    return [
      drawnButton(COPY, "Copy report", "error.report", "only-wide"),
      link(queryPath(this.query), "btn", [
        text("See " + countedValue(valueOf(all), "job", "jobs")),
      ]),
      writeButton(m, this.verbLabel, "ask.verb", verbArg(this.verb), "p"),
    ];
  }

  private waiting(m: Model): Node {
    return this.failed.error.length > 0
      ? this.failed.placeholder(m, 6)
      : this.retrying.placeholder(m, 6);
  }

  private body(m: Model): Node {
    const group = this.group;
    const details = this.details;
    const all = valueText(valueOf(group.failedCount > 0 ? group.failed : group.retrying));
    return box("div", "", [
      numbers(m, group),
      box("div", "cols a", [
        box("div", "", [commonPanel(m, details.common, details.inCommon), errorView(m, details)]),
        box("div", "", [
          places(m, group, details, this.query),
          newest(m, details, all, this.query),
        ]),
      ]),
    ]);
  }
}

function over(): Node {
  return empty(
    "No jobs have this error any more",
    "They succeeded, failed differently or were removed.",
    "/errors",
    "All errors",
  );
}
