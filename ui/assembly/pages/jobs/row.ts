/** A row of the list of jobs. */

import {
  age,
  ageText,
  agoElement,
  clockAt,
  localTimes,
  timeElement,
  timeUntil,
} from "../../controls/age";
import { dash } from "../../controls/empty";
import { glyph } from "../../controls/glyph";
import { cell } from "../../controls/table";
import { isLocked } from "../../generated/conditions";
import { Incident, ListedJob } from "../../generated/records";
import { errorLabel } from "../../kit/group-row";
import { Row } from "../../kit/row";
import { attr, box, cls, el, leaf, Node, nothing, text } from "../../lib/node";
import { numberText } from "../../lib/number";
import { quote } from "../../lib/quoting";
import { jobPath, queuePath, workerPath } from "../../model/links";
import { Model } from "../../model/model";
import { cutName } from "../../parts/exact-name";
import { Settings } from "./settings";

export class JobRow extends Row {
  constructor(
    readonly job: ListedJob,
    private readonly settings: Settings,
    /** The condition of the tab; empty: the tab has all jobs, so each row shows its condition. */
    private readonly tab: string,
    /** The key of the row that heads the job's group; empty: the list has no groups. */
    private readonly group: string = "",
    /** The text in which the job's error differs from other errors of its group; empty: none. */
    private readonly varying: string = "",
  ) {
    super(job.id.toString());
  }

  get name(): string {
    return "job " + this.key;
  }

  override get scope(): string {
    return this.group;
  }

  override get path(): string {
    return jobPath(this.job.id);
  }

  cells(m: Model): Node[] {
    const job = this.job;
    const cells: Node[] = [];
    if (this.tab.length === 0) cells.push(cell("c-state", [glyph(job.condition)]));
    cells.push(cell("c-job", [this.named()]));
    cells.push(cell("c-why", [this.why(m)]));
    cells.push(cell("num dim c-attempts", [text(`${job.attempts} of ${job.maxAttempts}`)]));
    if (this.settings.has("priority"))
      cells.push(cell("num dim c-priority", [text(job.priority.toString())]));
    if (this.settings.has("queue")) cells.push(cell("dim c-queue", [orNone(job.queueName)]));
    if (this.settings.has("key")) cells.push(cell("dim c-key", [orNone(job.key)]));
    if (this.settings.has("added")) {
      cells.push(cell("num dim c-added", [agoElement(job.createdAt, m.times)]));
    }
    cells.push(cell("num dim c-when", [timeOf(m, job)]));
    return cells;
  }

  private why(m: Model): Node {
    const error = this.job.errorLine;
    if (this.varying.length === 0 || error === null) return whyOf(m, this.job);
    return el("code", [cls("err cut"), attr("title", error)], [text(this.varying)]);
  }

  private named(): Node {
    const task = this.job.taskIdentifier;
    const name = task === null ? "(no task)" : task;
    return el(
      "a",
      [
        attr("href", "#" + this.path),
        cls("job"),
        attr("title", name),
        attr("tabindex", "-1"),
        attr("data-names", ""),
      ],
      [cutName(name, "name"), leaf("span", "id", "#" + this.key)],
    );
  }
}

function orNone(name: string | null): Node {
  if (name === null) return leaf("span", "none", "none");
  return el("span", [attr("title", name)], [cutName(name, "")]);
}

/** The status of the job: its last error, what it waits for, or the worker that has locked it. */
export function whyOf(m: Model, job: ListedJob): Node {
  const error = job.errorLine;
  const condition = job.condition;
  if (condition === "failed" || condition === "retrying") {
    return error === null || error.length === 0
      ? leaf("span", "dim", "No error recorded")
      : errorLabel(error);
  }
  if (isLocked(condition)) return runs(m, job);
  if (condition === "scheduled") {
    const at = job.runAt;
    return leaf("span", "dim", "Scheduled" + (isNaN(at) ? "" : " for " + clockAt(at, m.serverNow)));
  }
  const paused = pauseOf(m, job);
  if (paused.length > 0) return leaf("span", "dim", paused);
  if (condition === "blocked") return waits(m, job);
  const task = job.taskIdentifier;
  return task !== null && incidentOf(m, "unsupported_task", task) !== null
    ? leaf("span", "amber", "No running worker has this task")
    : leaf("span", "dim", "Waiting to start");
}

/**
 * Returns the text of a pause or back-off that applies to the job, such as `Paused by ana until 14:00:00: deploy.`;
 * empty: none. The text is the end of the sentence of the pause's incident.
 */
function pauseOf(m: Model, job: ListedJob): string {
  const queue = job.queueName;
  const task = job.taskIdentifier;
  const list = m.facts.incidents.incidents;
  for (let i = 0; i < list.length; i++) {
    const id = list[i].id;
    const isIts =
      id === "paused:all:" ||
      (queue !== null && id === "paused:queue:" + queue) ||
      (task !== null && id === "paused:task:" + task);
    if (!isIts) continue;
    const sentence = localTimes(list[i].sentence, m.serverNow);
    return sentence.substring(sentence.indexOf(". ") + 2);
  }
  return "";
}

const CRASHES = "It crashes its worker";
const RAN = "It ran whenever its worker crashed";

function runs(m: Model, job: ListedJob): Node {
  const worker = job.lockedBy;
  const list = m.facts.incidents.incidents;
  for (let i = 0; i < list.length; i++) {
    const q = list[i].q;
    if (list[i].kind !== "poison" || q === null) continue;
    if (!`,${q.substring(3)},`.includes(`,${job.id},`)) continue;
    // The incident is about several jobs, so this job may not be the cause of the crashes.
    if (q.includes(",")) return leaf("span", "red", RAN);
    const sentence = list[i].sentence;
    // The row and the incident may have been read during different attempts.
    const isOfThis = sentence.startsWith(`Attempt ${numberText(job.attempts)} of `);
    return leaf("span", "red", isOfThis ? sentence.substring(0, sentence.indexOf(".")) : CRASHES);
  }
  if (worker === null) return leaf("span", "dim", "Running on an unknown worker");
  const stuck = incidentOf(m, "stuck_queue", worker);
  const isNotResponding =
    incidentOf(m, "stale_worker", worker) !== null || (stuck !== null && stuck.level === "bad");
  return box("span", isNotResponding ? "red" : "dim", [
    text(job.condition === "fetched" ? "Fetched by " : "On "),
    inRow(workerPath(worker), worker),
    text(isNotResponding ? ", not responding" : `, attempt ${job.attempts}`),
  ]);
}

function waits(m: Model, job: ListedJob): Node {
  const queue = job.queueName;
  if (queue === null) return leaf("span", "dim", "Waiting for its queue");
  const isStuck = incidentOf(m, "stuck_queue", queue) !== null;
  return box("span", "", [
    text("Waiting for queue "),
    inRow(queuePath(queue), queue),
    isStuck ? text(" (stuck)") : nothing,
  ]);
}

function inRow(path: string, name: string): Node {
  return el("a", [attr("href", "#" + path), cls("link"), attr("tabindex", "-1")], [text(name)]);
}

function incidentOf(m: Model, kind: string, name: string): Incident | null {
  const list = m.facts.incidents.incidents;
  for (let i = 0; i < list.length; i++) {
    const links = list[i].links;
    const q = list[i].q;
    if (list[i].kind !== kind) continue;
    if (links.queue === name || links.worker === name) return list[i];
    if (kind === "unsupported_task" && q !== null && q.startsWith(`task:${quote(name)} `))
      return list[i];
    // One incident may be about many queues of one worker.
    if (kind === "stuck_queue" && q !== null && namesQueue(q, name)) return list[i];
  }
  return null;
}

/** Whether a query such as `queue:"crm","a b" is:blocked` names the queue. */
function namesQueue(query: string, name: string): bool {
  return `,${query.substring(6, query.lastIndexOf(" is:"))},`.includes(`,${quote(name)},`);
}

function timeOf(m: Model, job: ListedJob): Node {
  const condition = job.condition;
  if (condition === "failed") return agoElement(job.conditionSince, m.times);
  if (isLocked(condition)) return timeElement(job.lockedAt, "locked " + age(job.lockedAt, m.times));
  if ((condition === "retrying" || condition === "scheduled") && !(job.runAt < m.serverNow))
    return timeElement(job.runAt, timeUntil(job.runAt, m.times));
  if (isNaN(job.runAt)) return dash();
  const late = m.serverNow - job.runAt;
  if (m.live.isStale(m.now)) return timeElement(job.runAt, "since " + age(job.runAt, m.times));
  return timeElement(job.runAt, late < 1000 ? "now" : ageText(late) + " late");
}
