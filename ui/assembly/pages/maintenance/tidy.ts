/**
 * The part of the page Maintenance for cleanups. It has a row for each kind of cleanup, with the number of jobs, tasks
 * or queues that the cleanup would delete, and a row for the sweep of stale workers.
 */
import { sub } from "../../controls/table";
import { countedValue, valueNode } from "../../controls/value";
import { CleanupCount, Database } from "../../generated/records";
import { Chore } from "../../kit/chore";
import { writeButton } from "../../kit/verb";
import { replaced } from "../../lib/letters";
import { Node, nothing, text } from "../../lib/node";

import { Model } from "../../model/model";
import { due, fine, possible, statusRow } from "./status";

const FAILED = "delete-permanently-failed-jobs";
const TASKS = "gc-task-identifiers";
/** If more failed jobs than this would be deleted, the user types their number to confirm the deletion. */
const TYPED_ABOVE: i64 = 100;

export function tidyRows(m: Model, database: Database): Node[] {
  const rows: Node[] = [];
  for (let i = 0; i < database.cleanup.length; i++) rows.push(tidyRow(m, database.cleanup[i]));
  rows.push(sweepRow(m));
  return rows;
}

function tidyRow(m: Model, one: CleanupCount): Node {
  const chore = choreFor(one);
  const isNone = one.count.value === 0 && one.count.precision === "exact";
  return statusRow(
    one.task,
    title(one.task),
    [sub(about(one.task))],
    valueNode(one.count, ""),
    isNone ? fine() : possible("can be deleted"),
    isNone
      ? nothing
      : chore.isFinal
        ? chore.inMenu(m, "Delete…", "cleanup")
        : chore.button(m, "Preview…", "cleanup"),
  );
}

function title(task: string): string {
  if (task === FAILED) return "Delete failed jobs";
  return task === TASKS ? "Delete unused tasks" : "Delete unused queues";
}

function about(task: string): string {
  if (task === FAILED) return "can't be undone";
  return task === TASKS ? "without jobs and workers" : "without jobs, not locked";
}

function choreFor(one: CleanupCount): Chore {
  const task = one.task;
  const count = one.count;
  const names = named(one.names, task === FAILED ? 0 : count.value);
  const chore = new Chore();
  chore.subject = task;
  if (task === FAILED) {
    chore.title = `Delete ${countedValue(count, "failed job", "failed jobs")}`;
    const tasks = names.length > 0 ? ` Tasks: ${names}.` : "";
    chore.sentence = `Deletes all failed jobs, perhaps also jobs that fail while this runs. This can't be undone.${tasks}`;
    chore.isFinal = true;
    chore.typed = count.value > TYPED_ABOVE ? count.value : 0;
  } else if (task === TASKS) {
    chore.title = `Delete ${countedValue(count, "task", "tasks")}`;
    chore.sentence = `Deletes names of tasks without jobs and workers: ${names}. A name comes back with its next job. Restart producers and Graphile workers afterwards: they cache task ids.`;
  } else {
    chore.title = `Delete ${countedValue(count, "queue", "queues")}`;
    chore.sentence = `Deletes queues without jobs: ${names}. A queue comes back with its next job.`;
  }
  return chore;
}

/**
 * Returns the names as a text such as `a, b and more`. Line breaks become spaces, because the text becomes a part of a
 * button's argument, and a line break ends such a part. `all`: the number of all names, 0 if it is unknown.
 */
function named(names: string[], all: i64): string {
  return replaced(names.join(", "), "\n", " ") + (names.length < all ? " and more" : "");
}

function sweepRow(m: Model): Node {
  const pulse = m.facts.pulse;
  const isKnown = m.facts.has("pulse");
  const all = pulse.alive + pulse.stale;
  const words = !isKnown
    ? ""
    : all === 0
      ? "no worker sends a heartbeat; finds old locks"
      : pulse.stale === 0
        ? "all workers alive"
        : pulse.stale === 1
          ? "its jobs will run again"
          : "their jobs will run again";
  const status = !isKnown
    ? nothing
    : pulse.stale > 0
      ? due("not responding")
      : all === 0
        ? possible("no workers")
        : fine();
  return statusRow(
    "sweep",
    "Sweep workers that are not responding",
    [sub(words)],
    isKnown ? text(pulse.stale.toString()) : nothing,
    status,
    writeButton(m, "Preview…", "ask.sweep", "", "s"),
  );
}
