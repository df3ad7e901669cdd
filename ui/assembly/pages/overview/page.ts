/** The overview: incidents, the horizon, counts and short lists. */

import { clockAt } from "../../controls/age";
import { button } from "../../controls/button";
import { note } from "../../controls/empty";
import { HOME } from "../../controls/icon";
import { panel, plainPanel } from "../../controls/panel";
import { methodOf } from "../../controls/value";
import {
  Groups,
  JobList,
  QueueList,
  readGroups,
  readJobList,
  readQueueList,
  readTaskList,
  TaskList,
} from "../../generated/records";
import { copy, navigate } from "../../host";
import { IncidentList } from "../../kit/incident-list";
import { incidentPath, incidentRow } from "../../kit/incident-row";
import { ServerData } from "../../kit/server-data";
import { verbArg } from "../../kit/verb";
import { JsonReader } from "../../lib/json-reader";
import { attr, box, el, leaf, Node, nothing, text } from "../../lib/node";
import { countText, parseWhole } from "../../lib/number";
import { Model, Page } from "../../model/model";
import { Pending } from "../../model/requests";
import { keyOf, Shortcut } from "../../model/shortcut";
import { Acknowledgements } from "../../parts/pause";
import { crashCard } from "./crash";
import { horizonChart, horizonTable, Span } from "./horizon";
import { errorsPanel, nextPanel, queuesPanel, SHOWN, tasksPanel } from "./lists";
import { numbers } from "./numbers";
import { report } from "./report";
import { dragSpan, keyOnSpan } from "./select-span";
import { checks, isEmpty, verdict } from "./verdict";
import { welcome } from "./welcome";

const ERRORS = `api/groups?by=error&q=is%3Afailed&limit=${SHOWN}`;
const QUEUES = `api/queues?limit=${SHOWN}`;
const TASKS = `api/tasks?limit=${SHOWN}&sort=worst`;
const NEXT = `api/jobs?limit=${SHOWN}&fields=row&count=none&sort=due&q=is%3Ascheduled`;
/** The shortest interval between requests for the same short list. */
const SOON_MS: f64 = 5000;
/** The number of incidents that are shown at first. */
const MAX_INCIDENTS: i32 = 6;

export class OverviewPage extends Page {
  private errors: ServerData = new ServerData("overview.errors");
  private queues: ServerData = new ServerData("overview.queues");
  private tasks: ServerData = new ServerData("overview.tasks");
  private next: ServerData = new ServerData("overview.next");
  private acknowledged: Acknowledgements = new Acknowledgements("overview");
  private groups: Groups = Groups.empty();
  private queueList: QueueList = QueueList.empty();
  private taskList: TaskList = TaskList.empty();
  private nextJobs: JobList = JobList.empty();
  private span: Span = new Span();
  private incidents: IncidentList = new IncidentList();
  private showsAll: bool = false;

  constructor() {
    super("overview", "/");
    this.label = "Overview";
    this.drawing = HOME;
    this.letter = "o";
    this.inBar = true;
  }

  override load(m: Model): void {
    this.errors.request(m, ERRORS);
    this.queues.request(m, QUEUES);
    this.tasks.request(m, TASKS);
    this.next.request(m, NEXT);
  }

  override refresh(m: Model): void {
    // The server reads error groups seldom, so the request is repeated until the groups include the latest failures.
    const isOld = this.groups.asOf < m.facts.failedAsOf;
    this.errors.requestSince(m, ERRORS, SOON_MS, isOld ? m.now : m.facts.failedAt);
    this.queues.requestEvery(m, QUEUES, SOON_MS);
    this.tasks.requestEvery(m, TASKS, SOON_MS);
    this.next.requestEvery(m, NEXT, SOON_MS);
    this.acknowledged.follow(m, m.facts.incidentsOf("paused") > 0);
  }

  override reset(_m: Model): void {
    this.errors.reset();
    this.queues.reset();
    this.tasks.reset();
    this.next.reset();
  }

  override leave(_m: Model): void {
    this.span.clear();
    this.incidents.clear();
    this.showsAll = false;
  }

  override onAnswer(m: Model, request: Pending, body: string): void {
    if (request.topic === this.acknowledged.data.topic) {
      this.acknowledged.onAnswer(m, body);
      return;
    }
    const r = new JsonReader(body);
    const data = this.dataOf(request);
    if (data === this.errors) this.groups = readGroups(r);
    else if (data === this.tasks) this.taskList = readTaskList(r);
    else if (data === this.next) this.nextJobs = readJobList(r);
    else this.queueList = readQueueList(r);
    data.finish(m, r);
  }

  override onFailure(_m: Model, request: Pending, status: i32, reason: string): void {
    this.dataOf(request).failedWith(status, reason);
  }

  private dataOf(request: Pending): ServerData {
    const topic = request.topic;
    if (topic === this.errors.topic) return this.errors;
    if (topic === this.tasks.topic) return this.tasks;
    if (topic === this.acknowledged.data.topic) return this.acknowledged.data;
    return topic === this.next.topic ? this.next : this.queues;
  }

  override shortcuts(m: Model): Shortcut[] {
    const keys = [
      new Shortcut("j", "Next issue", "overview.next", "", "Overview"),
      new Shortcut("k", "Previous issue", "overview.before", "", "Overview"),
      new Shortcut("Enter", "Open issue", "overview.open", "", "Overview"),
      new Shortcut("", "Copy incident report", "overview.report", "", "Overview"),
    ];
    const at = this.incidents.at;
    if (at === null || !this.incidents.isWalked || this.incidents.gone.has(at.id)) return keys;
    const verb = at.fix;
    if (verb === null || !m.access.canWrite || m.live.isStale(m.now)) return keys;
    keys.push(new Shortcut(keyOf(verb.action), verb.label, "ask.verb", verbArg(verb), "Overview"));
    return keys;
  }

  override act(m: Model, verb: string, arg: string, value: string): void {
    if (verb === "all") this.showsAll = true;
    else if (verb === "next") this.incidents.walk(arg, 1, this.shown);
    else if (verb === "before") this.incidents.walk(arg, -1, this.shown);
    else if (verb === "walk") this.incidents.walk(arg, value === "ArrowUp" ? -1 : 1, this.shown);
    else if (verb === "open") this.open(arg);
    else if (verb === "news") this.incidents.show(m.facts.incidents.incidents);
    else if (verb === "report") copy(report(m));
    else if (verb === "horizon") keyOnSpan(m, this.span, value);
    else if (verb === "span") dragSpan(m, this.span, <i32>parseWhole(arg).value, value);
  }

  private open(id: string): void {
    const list = this.incidents;
    const at = list.indexOf(id);
    if (at >= 0) list.current = at;
    const incident = list.at;
    if (at < 0 && !list.isWalked) list.walk("", 0, this.shown);
    else if (incident !== null && incidentPath(incident).length > 0)
      navigate(incidentPath(incident), false);
  }

  /** If exactly one incident would be hidden, it is shown, too. */
  private get shown(): i32 {
    const count = this.incidents.rows.length;
    return this.showsAll || count <= MAX_INCIDENTS + 1 ? count : MAX_INCIDENTS;
  }

  override view(m: Model): Node {
    const known = m.facts.has("incidents");
    const empty = isEmpty(m);
    return box("div", "overview", [
      verdict(m),
      empty ? welcome(m) : known ? this.incidentsPanel(m) : nothing,
      estimates(m),
      this.horizon(m),
      empty
        ? nothing
        : box("div", "cols a", [
            box("div", "", [
              errorsPanel(m, this.errors, this.groups),
              tasksPanel(m, this.tasks, this.taskList),
            ]),
            box("div", "", [
              queuesPanel(m, this.queues, this.queueList),
              nextPanel(m, this.next, this.nextJobs),
            ]),
          ]),
    ]);
  }

  private incidentsPanel(m: Model): Node {
    const list = this.incidents;
    list.follow(m);
    if (list.rows.length === 0) return checks(m);
    const rows: Node[] = [];
    let isFilled = false;
    // The workers acknowledge all pauses together, so the acknowledgement is shown only below the first pause.
    let hasPause = false;
    const shown = this.shown;
    for (let i = 0; i < shown; i++) {
      // Only the first incident that has an action and has not ended gets a prominent button.
      const isFirst = !isFilled && list.rows[i].fix !== null && !list.gone.has(list.rows[i].id);
      const isPause = !hasPause && list.rows[i].kind === "paused";
      const more = isPause ? this.acknowledged.view() : crashCard(m, list.rows[i].crash);
      rows.push(incidentRow(m, list, i, isFirst, more));
      hasPause = hasPause || isPause;
      isFilled = isFilled || isFirst;
    }
    const count = list.rows.length;
    const unlisted = m.facts.incidents.more;
    if (shown < count) {
      const words = `Show ${countText(count - shown, "more", "more")}`;
      rows.push(box("div", "pf", [button(words, "overview.all", "", "q s")]));
    } else if (unlisted > 0) {
      rows.push(leaf("p", "pf", `${countText(unlisted, "more issue", "more issues")}.`));
    }
    if (list.news > 0) {
      const words = `${list.news} new · show`;
      rows.push(box("div", "pf", [button(words, "overview.news", "", "q s")]));
    }
    return el(
      "div",
      [
        attr("data-hold", ""),
        attr("data-key", "overview.walk"),
        attr("data-keys", "ArrowDown ArrowUp"),
      ],
      [plainPanel("Issues", rows)],
    );
  }

  private horizon(m: Model): Node {
    const known = m.facts.has("horizon");
    const horizon = m.facts.horizon;
    const stale = m.live.isStale(m.now);
    const more = stale
      ? known
        ? "as of " + clockAt(horizon.now, m.serverNow)
        : ""
      : isEmpty(m)
        ? "your jobs appear here"
        : "drag to select a time range";
    return box("div", "hz-panel", [
      panel(
        "Horizon",
        "jobs by due or failure time",
        [leaf("span", "only-wide", more)],
        [
          known
            ? horizonChart(horizon, this.span, stale ? clockAt(horizon.now, m.serverNow) : "now")
            : leaf("div", "hz hz-wait", ""),
          known ? horizonTable(horizon) : nothing,
          numbers(m),
        ],
      ),
    ]);
  }
}

/** A note about the precision of the numbers. */
function estimates(m: Model): Node {
  const total = m.facts.counts.total;
  if (!m.facts.has("counts") || total.precision === "exact") return nothing;
  return note("", [
    leaf("b", "", "≈ marks an estimate."),
    text(
      ` The total is ${methodOf(total)}; hover over a number for its range. The horizon is a sample, except for the seconds around now.`,
    ),
  ]);
}
