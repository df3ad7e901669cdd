/**
 * A worker's details: where it runs, its tasks, and how many jobs it has done. If the worker is not responding or sends
 * no heartbeats, and has locked jobs or queues, the details include the command that unlocks them.
 */
import { agoElement } from "../../controls/age";
import { copyName, link } from "../../controls/button";
import { pair, pairs, plainPanel, shellPanel, tablePanel } from "../../controls/panel";
import { cell, row } from "../../controls/table";
import { quoted, shellLine } from "../../forms/shell-line";
import { ListedWorker } from "../../generated/records";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { numberText } from "../../lib/number";
import { taskPath } from "../../model/links";
import { Model } from "../../model/model";
import { exactName } from "../../parts/exact-name";
import { holdsAny } from "../../parts/holder";

/** The maximum number of tasks that are listed. */
const MAX_TASKS = 50;

export function about(m: Model, worker: ListedWorker): Node {
  return box("aside", "", [facts(m, worker), tallies(worker), shell(m, worker)]);
}

function facts(m: Model, worker: ListedWorker): Node {
  const list: Node[] = [
    pair(
      "Id",
      box("span", "", [text(worker.workerId), copyName("the worker's id", worker.workerId)]),
    ),
  ];
  const node = worker.node;
  add(list, "Host", worker.host);
  if (worker.pid !== i64.MIN_VALUE) {
    add(list, "Process", worker.pid.toString() + (node === null ? "" : ", node " + node));
  } else if (node !== null) add(list, "Node", node);
  add(list, "Version", worker.version);
  const started = worker.startedAt;
  if (!isNaN(started)) list.push(pair("Started", agoElement(started, m.times)));
  const beatAt = worker.lastHeartbeatAt;
  if (!isNaN(beatAt)) list.push(pair("Heartbeat", agoElement(beatAt, m.times)));
  if (worker.slots !== i64.MIN_VALUE) add(list, "Slots", numberText(worker.slots));
  if (worker.done !== i64.MIN_VALUE) {
    const failed = worker.failed === i64.MIN_VALUE ? "" : `, ${numberText(worker.failed)} failed`;
    add(list, "Done", numberText(worker.done) + failed);
  }
  list.push(pair("Tasks", tasks(worker)));
  return plainPanel("Facts", [box("div", "pb", [pairs(list)])]);
}

function add(list: Node[], name: string, value: string | null): void {
  if (value !== null) list.push(pair(name, text(value)));
}

/** The names of the worker's tasks, each with a link to the jobs of the task. */
function tasks(worker: ListedWorker): Node {
  const all = worker.tasks;
  if (all.length === 0)
    return leaf("span", "faint", worker.tasksComplete ? "none" : "not reported");
  const names: Node[] = [];
  for (let i = 0; i < min(all.length, MAX_TASKS); i++) {
    names.push(link(taskPath(all[i]), "link", [exactName(all[i], "")]));
  }
  const left = all.length - names.length;
  const more = worker.tasksComplete
    ? `and ${numberText(left)} more`
    : "and more that it does not report";
  if (left > 0 || !worker.tasksComplete) names.push(leaf("span", "faint", more));
  return box("span", "names", names);
}

function tallies(worker: ListedWorker): Node {
  const rows: Node[] = [];
  for (let i = 0; i < worker.byTask.length; i++) {
    const tally = worker.byTask[i];
    rows.push(
      row(tally.task, "", [
        cell("", [link(taskPath(tally.task), "cut", [exactName(tally.task, "")])]),
        cell("num", [text(numberText(tally.done))]),
        cell(tally.failed > 0 ? "num red" : "num faint", [text(numberText(tally.failed))]),
      ]),
    );
  }
  const columns = ["=Task", "num w3=Done", "num w3=Failed"];
  return tablePanel("Since it started", "", [], "tallies", columns, rows);
}

function shell(m: Model, worker: ListedWorker): Node {
  if (worker.state === "alive" || !holdsAny(worker)) return nothing;
  const line = shellLine("unlock " + quoted(worker.workerId), m.access.session.schema);
  return shellPanel(line);
}
