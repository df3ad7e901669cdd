/** What a rehearsal found: how many jobs of which tasks and queues, and a few of them. */
import { note } from "../controls/empty";
import { cell, row, table } from "../controls/table";
import { valueNode } from "../controls/value";
import { Rehearsal, SampleJob, Value } from "../generated/records";
import { errorLabel } from "../kit/group-row";
import { box, leaf, Node, nothing, text } from "../lib/node";
import { grouped } from "../lib/number";
import { Model } from "../model/model";

/** So many tasks and queues are named. */
const NAMED: i32 = 5;
const SHOWN: i32 = 3;
const SAMPLE_COLUMNS: string[] = ["w6=Job", "=What it left", "num w3 w-mid=Tries"];

export function rehearsed(_m: Model, rehearsal: Rehearsal, verb: string): Node {
  const unknown = rehearsal.unknown;
  return box("div", "form", [
    unknown.length > 0
      ? note("warn", [text("Nothing has this name: " + unknown.join(", "))])
      : nothing,
    places(rehearsal, verb),
    samples(rehearsal.sample),
  ]);
}

function places(rehearsal: Rehearsal, verb: string): Node {
  const rows: Node[] = [];
  const tasks = rehearsal.byTask;
  const queues = rehearsal.byQueue;
  for (let i = 0; i < min(tasks.length, NAMED); i++) {
    rows.push(place("task", tasks[i].task, tasks[i].countValue));
  }
  if (tasks.length > NAMED) rows.push(more("task", tasks.length));
  for (let i = 0; i < min(queues.length, NAMED); i++) {
    rows.push(place("queue", queues[i].queue, queues[i].countValue));
  }
  if (queues.length > NAMED) rows.push(more("queue", queues.length));
  return rows.length === 0
    ? nothing
    : table("places", verb, ["=Tasks and queues", "num w4=Jobs"], rows);
}

function place(what: string, name: string | null, count: Value): Node {
  return row(what + (name === null ? "" : name), "", [
    cell("", [
      box("span", "row", [
        leaf("span", "faint place", what),
        name === null ? leaf("span", "none", "none") : leaf("span", "name cut", name),
      ]),
    ]),
    cell("num", [valueNode(count, "")]),
  ]);
}

function more(what: string, all: i32): Node {
  const words = `and ${grouped(all - NAMED)} more ${what}s`;
  return row(`${what} more`, "", [cell("faint", [text(words)]), cell("", [])]);
}

export function jobName(task: string | null, id: i64): Node {
  return box("span", "row", [
    leaf("span", "name cut", task === null ? "(no task)" : task),
    leaf("span", "id", `#${id}`),
  ]);
}

/** The oldest of them, to be looked at before anything is done. */
function samples(jobs: SampleJob[]): Node {
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
  return rows.length === 0 ? nothing : table("samples", "Some of them", SAMPLE_COLUMNS, rows);
}
