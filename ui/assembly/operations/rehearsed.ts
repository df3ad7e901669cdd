/** Shows a rehearsal, the preview of an operation: the numbers of jobs of each task and queue, and some of the jobs. */
import { note } from "../controls/empty";
import { cutText } from "../controls/middle";
import { cell, row, table } from "../controls/table";
import { valueNode } from "../controls/value";
import { Rehearsal, SampleJob, Value } from "../generated/records";
import { errorLabel } from "../kit/group-row";
import { box, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { numberText } from "../lib/number";

/** The maximum number of tasks that are listed by name. The same maximum applies to queues. */
const NAMED: i32 = 5;
const SHOWN: i32 = 3;
const SAMPLE_COLUMNS: string[] = ["w6=Job", "=Last error", "num w3 w-mid=Attempts"];

export function rehearsalView(rehearsal: Rehearsal): Node {
  const unknown = rehearsal.unknown;
  return box("div", "form", [
    unknown.length > 0 ? note("warn", [text("Not found: " + unknown.join(", "))]) : nothing,
    places(rehearsal),
  ]);
}

/** Returns a line of tasks, such as `8,400 charge_card · 2,400 crawl_page`, and a similar line of queues. */
function places(rehearsal: Rehearsal): Node {
  const tasks = rehearsal.byTask;
  const queues = rehearsal.byQueue;
  const ofTasks: Node[] = [];
  const ofQueues: Node[] = [];
  for (let i = 0; i < min(tasks.length, NAMED); i++) {
    ofTasks.push(place(i, tasks[i].task, "no task", tasks[i].countValue));
  }
  for (let i = 0; i < min(queues.length, NAMED); i++) {
    ofQueues.push(place(i, queues[i].queue, "no queue", queues[i].countValue));
  }
  if (tasks.length > NAMED) ofTasks.push(more(tasks.length, "tasks"));
  if (queues.length > NAMED) ofQueues.push(more(queues.length, "queues"));
  return box("dl", "places", line("Tasks", ofTasks).concat(line("Queues", ofQueues)));
}

function line(what: string, parts: Node[]): Node[] {
  return parts.length === 0 ? [] : [leaf("dt", "", what), box("dd", "", parts)];
}

function place(index: i32, name: string | null, none: string, count: Value): Node {
  return box("span", "place", [
    text(index > 0 ? "· " : ""),
    valueNode(count, ""),
    text(" "),
    name === null ? leaf("span", "none", none) : leaf("b", "", name),
    text(" "),
  ]);
}

function more(all: i32, what: string): Node {
  return leaf("span", "faint", `· and ${numberText(all - NAMED)} more ${what}`);
}

export function jobName(task: string | null, id: i64): Node {
  const name = task === null ? "(no task)" : task;
  return box("span", "row", [cutText(name, "name"), leaf("span", "id", `#${id}`)]);
}

/** Returns a table of the first SHOWN jobs, in a box that is collapsed at first; `nothing` if there are no jobs. */
export function samples(jobs: SampleJob[]): Node {
  const rows: Node[] = [];
  for (let i = 0; i < min(jobs.length, SHOWN); i++) {
    const job = jobs[i];
    const error = job.errorLine;
    rows.push(
      row(job.id.toString(), "", [
        cell("", [jobName(job.taskIdentifier, job.id)]),
        cell("", [error === null ? leaf("span", "dim", job.state) : errorLabel(error)]),
        cell("num dim w-mid", [text(`${job.attempts} of ${job.maxAttempts}`)]),
      ]),
    );
  }
  if (rows.length === 0) return nothing;
  return el(
    "details",
    [cls("fold")],
    [
      leaf("summary", "", `${rows.length} of these jobs`),
      table("samples", "Some of them", SAMPLE_COLUMNS, rows),
    ],
  );
}
