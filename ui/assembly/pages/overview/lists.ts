/**
 * The panels of the largest error groups, of the tasks and queues with the most problems, and of the scheduled
 * jobs that are due next.
 */
import { aged, timeElement, timeUntil } from "../../controls/age";
import { link } from "../../controls/button";
import { stateWith } from "../../controls/glyph";
import { panel, tablePanel } from "../../controls/panel";
import { cell, row } from "../../controls/table";
import { countedValue, countNode, valueNode, valueText } from "../../controls/value";
import {
  Group,
  Groups,
  JobList,
  ListedJob,
  ListedQueue,
  ListedTask,
  QueueList,
  TaskList,
} from "../../generated/records";
import { groupName, groupTrend } from "../../kit/group-row";
import { ServerData } from "../../kit/server-data";
import { unlockVerb, verbButton } from "../../kit/verb";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { countText, numberText } from "../../lib/number";
import { conditionPath, errorPath, queuePath, taskPath } from "../../model/links";
import { Model } from "../../model/model";
import { cutName, jobInRow } from "../../parts/exact-name";
import { hasLock, isStuck, queueState } from "../../parts/queue";

const ERROR_COLUMNS: string[] = ["=Error", "num w3=Jobs", "num w3=Last", "w4 w-mid=Trend"];
const TASK_COLUMNS: string[] = [
  "=Task",
  "num w4=Ready",
  "num w4 w-mid=Blocked",
  "num w4 w-mid=Retrying",
  "num w4=Failed",
];
const NEXT_COLUMNS: string[] = ["=Job", "num w5=Due"];
const QUEUE_COLUMNS: string[] = ["=Queue", "num w4 w-mid=Jobs", "w6=State"];

export function errorsPanel(m: Model, data: ServerData, groups: Groups): Node {
  const more = [link("/errors", "", [text("All errors")])];
  if (!data.ready) return panel("Errors", "", more, [data.placeholder(m, 3)]);
  const list = groups.groups;
  if (list.length === 0) {
    return panel("Errors", "", more, [leaf("p", "pb faint", "No failed jobs")]);
  }
  const all = countText(list.length, "group", "groups");
  const many = list.length >= SHOWN ? "largest first" : all;
  const rows: Node[] = [];
  for (let i = 0; i < min(list.length, SHOWN); i++) rows.push(errorRow(m, list[i]));
  const jobs = countedValue(groups.of, "failed job", "failed jobs");
  return tablePanel("Errors", `${jobs}, ${many}`, more, "errors", ERROR_COLUMNS, rows);
}

export const SHOWN: i32 = 5;

function errorRow(m: Model, group: Group): Node {
  return row(group.key, "", [
    cell("", [link(errorPath(group.key), "row", [groupName(group)])]),
    cell("num", [valueNode(group.count, "")]),
    cell("num dim", [aged(group.lastSeen, m.times)]),
    cell("vis w-mid", [groupTrend(group)]),
  ]);
}

export function queuesPanel(m: Model, data: ServerData, queues: QueueList): Node {
  const count = queues.count;
  const all = count > 0 ? "All " + numberText(count) : "All queues";
  const more = [link("/queues", "", [text(all)])];
  if (!data.ready) return panel("Queues", "", more, [data.placeholder(m, 3)]);
  if (queues.queues.length === 0) {
    return panel(
      "Queues",
      "",
      [],
      [leaf("p", "pb faint", "No named queues. Jobs without a queue run in parallel.")],
    );
  }
  const rows: Node[] = [];
  for (let i = 0; i < queues.queues.length; i++) rows.push(queueRow(m, queues.queues[i]));
  return tablePanel("Queues", "by severity", more, "queues", QUEUE_COLUMNS, rows);
}

function queueRow(m: Model, queue: ListedQueue): Node {
  const name = cutName(queue.queueName, "");
  return row(queue.queueName, "", [
    cell("", [link(queuePath(queue.queueName), "name cut", [name])]),
    cell("num w-mid", [howMany(queue)]),
    cell("", [stateOf(m, queue)]),
  ]);
}

/**
 * Returns the state of a queue. For a stuck queue that the user may unlock, this is the word Stuck without a duration,
 * and a button for unlocking the worker that has locked the queue.
 */
function stateOf(m: Model, queue: ListedQueue): Node {
  const by = queue.lockedBy;
  if (by === null || by.length === 0 || !isStuck(queue) || !m.access.canWrite)
    return queueState(m, queue);
  const unlock = verbButton(m, unlockVerb("Unlock…", [by]), "s push");
  return box("span", "row", [stateWith("blocked", "Stuck"), unlock]);
}

export function tasksPanel(m: Model, data: ServerData, tasks: TaskList): Node {
  const more = [link("/tasks", "", [text("All tasks")])];
  if (!data.ready) return panel("Tasks", "", more, [data.placeholder(m, 3)]);
  const rows: Node[] = [];
  for (let i = 0; i < tasks.tasks.length; i++) rows.push(taskRow(tasks.tasks[i]));
  return tablePanel("Tasks", "", more, "tasks", TASK_COLUMNS, rows);
}

function taskRow(task: ListedTask): Node {
  const name = task.identifier;
  return row(name, "", [
    cell("", [link(taskPath(name), "name cut", [cutName(name, "")])]),
    cell("num", [countNode(task.ready, "")]),
    cell("num w-mid", [countNode(task.blocked, "")]),
    cell("num w-mid", [countNode(task.retrying, "")]),
    cell("num", [countNode(task.failed, "red")]),
  ]);
}

export function nextPanel(m: Model, data: ServerData, next: JobList): Node {
  const rows: Node[] = [];
  for (let i = 0; i < next.jobs.length; i++) rows.push(nextRow(m, next.jobs[i]));
  if (!data.ready) return nothing;
  const more = [link(conditionPath("scheduled"), "", [text("All scheduled")])];
  return tablePanel("Next due", "", more, "order", NEXT_COLUMNS, rows);
}

function nextRow(m: Model, job: ListedJob): Node {
  return row(job.id.toString(), "", [
    cell("", [jobInRow("", job.taskIdentifier, job.id)]),
    cell("num dim", [timeElement(job.runAt, timeUntil(job.runAt, m.times))]),
  ]);
}

/**
 * Returns one number. If jobs wait for the queue's lock: how many. Otherwise, if more than half of the queue's jobs
 * have failed: the number of failed jobs. Otherwise: the number of all jobs of the queue.
 */
function howMany(queue: ListedQueue): Node {
  if (hasLock(queue) && queue.ready.value > 0) return text(`${valueText(queue.ready)} wait`);
  if (queue.failed.value > 0 && queue.failed.value * 2 > queue.total.value) {
    return text(`${valueText(queue.failed)} failed`);
  }
  return valueNode(queue.total, "");
}
