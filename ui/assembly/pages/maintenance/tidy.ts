/** What nobody needs any more: how much of it there is, before anything is done about it. */
import { link } from "../../controls/button";
import { panel } from "../../controls/panel";
import { cell, row, table } from "../../controls/table";
import { countedValue, valueNode } from "../../controls/value";
import { CleanupCount, Database, Value } from "../../generated/records";
import { Chore } from "../../kit/chore";
import { writeButton } from "../../kit/verb";
import { leaf, Node, nothing, text } from "../../lib/node";
import { counted } from "../../lib/number";
import { Model } from "../../model/model";

const FAILED = "delete-permanently-failed-jobs";
const TASKS = "gc-task-identifiers";
/** More than so many that can't be brought back are asked for by their number. */
const TYPED_ABOVE: i64 = 100;

export function tidyPanel(m: Model, database: Database): Node {
  const rows: Node[] = [];
  for (let i = 0; i < database.cleanup.length; i++) rows.push(tidyRow(m, database.cleanup[i]));
  rows.push(sweepRow(m));
  rows.push(unlockRow(m));
  return panel(
    "Tidy up",
    "nothing is done before you have seen what",
    [],
    [table("two tidy", "Tidy up", ["=What", "num w4=Now", "num w5=Do"], rows)],
  );
}

function tidyRow(m: Model, one: CleanupCount): Node {
  const chore = choreFor(one.task, one.count);
  const isNone = one.count.value === 0 && one.count.precision === "exact";
  return what(
    one.task,
    title(one.task),
    about(one.task),
    valueNode(one.count, ""),
    isNone
      ? leaf("span", "faint", "nothing to do")
      : chore.isFinal
        ? chore.inMenu(m, "Delete…", "cleanup")
        : chore.ask(m, "Preview…", "cleanup"),
  );
}

function what(key: string, name: string, sub: string, count: Node, act: Node): Node {
  return row(key, "", [
    cell("", [leaf("b", "name", name), leaf("span", "sub", sub)]),
    cell("num", [count]),
    cell("num vis", [act]),
  ]);
}

function title(task: string): string {
  if (task === FAILED) return "Delete failed jobs";
  return task === TASKS ? "Forget unused tasks" : "Forget unused queues";
}

function about(task: string): string {
  if (task === FAILED) return "all that failed for good; can't be undone";
  return task === TASKS ? "no job uses them and no worker alive names them" : "empty and free";
}

function choreFor(task: string, count: Value): Chore {
  const chore = new Chore();
  chore.subject = task;
  if (task === FAILED) {
    chore.title = `Delete ${countedValue(count, "failed job", "failed jobs")}`;
    chore.sentence =
      "Every job that has failed for good is deleted, also those that fail until it is done. This can't be undone.";
    chore.isFinal = true;
    chore.typed = count.value > TYPED_ABOVE ? count.value : 0;
  } else if (task === TASKS) {
    chore.title = `Forget ${countedValue(count, "task", "tasks")}`;
    chore.sentence =
      "Names of tasks without a job are removed, but not those that a living worker knows. A name comes back with its next job. Restart what only adds jobs, or works without heartbeats.";
  } else {
    chore.title = `Forget ${countedValue(count, "queue", "queues")}`;
    chore.sentence =
      "Names of queues without a job are removed. A queue comes back with its next job.";
  }
  return chore;
}

function sweepRow(m: Model): Node {
  const pulse = m.facts.pulse;
  const isKnown = m.facts.has("pulse");
  const all = pulse.alive + pulse.stale;
  const said = !isKnown
    ? ""
    : all === 0
      ? "none has reported; old locks are looked for"
      : pulse.stale === 0
        ? "all workers alive"
        : `${counted(pulse.stale, "worker", "workers")} not responding; their jobs run again`;
  return what(
    "sweep",
    "Sweep workers that are not responding",
    said,
    isKnown ? text(pulse.stale.toString()) : nothing,
    writeButton(m, "Preview…", "ask.sweep", "", "s"),
  );
}

function unlockRow(m: Model): Node {
  return what(
    "unlock",
    "Unlock a worker by hand",
    "unlocks its jobs and queues, alive or not",
    nothing,
    m.access.canWrite ? link("/workers", "btn s", [text("Choose it")]) : nothing,
  );
}
