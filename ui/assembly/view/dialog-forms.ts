/** The forms inside the dialogs. */
import { Dialog } from "../app/dialog";
import { Draft } from "../app/draft";
import { localTime } from "../app/local-time";
import { Model } from "../app/model";
import { jsonFault } from "../lib/json-reader";
import { box, leaf, Node, nothing } from "../lib/node";
import { counted } from "../lib/number";
import { isoTime } from "../lib/time";
import { button } from "./controls";
import { checkbox, Field } from "./field";
import { queues, suggestions, tasks } from "./jobs-filter";
import { relative } from "./when";

const KEY_MODES: string[] = [
  "=Server default (replace)",
  "replace=replace: the older job's fields become these",
  "preserve-run-at=preserve-run-at: replace, but keep its time",
  "unsafe-dedupe=unsafe-dedupe: keep the older job as it is",
];

export function addForm(m: Model, draft: Draft): Node {
  const identifier = new Field(draft, "identifier", "Task identifier");
  identifier.required = true;
  identifier.focused = true;
  identifier.list = "add-tasks";
  const queue = new Field(draft, "queue", "Queue");
  queue.list = "add-queues";
  queue.hint = "Jobs of one queue run one after the other.";
  const priority = new Field(draft, "priority", "Priority");
  priority.placeholder = "0";
  priority.hint = "A smaller number runs sooner.";
  const attempts = new Field(draft, "max_attempts", "Max attempts");
  attempts.placeholder = "25";
  const key = new Field(draft, "key", "Job key");
  key.hint = "There is at most one waiting job with this key.";
  const mode = new Field(draft, "job_key_mode", "If the key is taken");
  mode.disabled = draft.value("key").trim().length === 0;
  const flags = new Field(draft, "flags", "Flags");
  flags.placeholder = "separated by commas";
  return box("div", "form", [
    identifier.input(),
    payloadField(draft),
    box("div", "field-row", [queue.input(), runAt(m, draft, "Run at")]),
    box("div", "field-row", [priority.input(), attempts.input()]),
    box("div", "field-row", [key.input(), mode.select(KEY_MODES)]),
    flags.input(),
    suggestions("add-tasks", tasks(m)),
    suggestions("add-queues", queues(m)),
  ]);
}

/** The fault is told while typing, but only once there is something typed. */
function payloadField(draft: Draft): Node {
  const typed = draft.value("payload");
  const field = new Field(draft, "payload", "Payload");
  const fault = typed.trim().length > 0 ? jsonFault(typed) : "";
  if (draft.fault("payload").length === 0) {
    field.hint =
      fault.length > 0
        ? "Not JSON yet: " + fault
        : "JSON. It is sent exactly as typed: key order and long integers stay.";
  }
  return box("div", fault.length > 0 ? "payload unsound" : "payload", [field.area(7)]);
}

export function failForm(draft: Draft): Node {
  const reason = new Field(draft, "reason", "Reason");
  reason.focused = true;
  reason.placeholder = "Marked failed from the worker admin UI";
  reason.hint = "Stands as the job's last error.";
  return reason.input();
}

export function runNowForm(dialog: Dialog): Node {
  const failed = dialog.count("failed");
  if (failed === 0) return nothing;
  const other = dialog.jobs.length - failed;
  const hint =
    `${counted(failed, "job has", "jobs have")} no attempts left and would not run without this.` +
    (other > 0 ? ` It also applies to the other ${counted(other, "job", "jobs")}.` : "");
  return box("div", "form", [
    checkbox(dialog.draft, "again", "Set attempts back to 0", "dialog.input"),
    leaf("p", "hint", hint),
  ]);
}

export function rescheduleForm(m: Model, draft: Draft): Node {
  const priority = new Field(draft, "priority", "Priority");
  const attempts = new Field(draft, "attempts", "Attempts used");
  const most = new Field(draft, "max_attempts", "Max attempts");
  return box("div", "form", [
    runAt(m, draft, "Run at"),
    box("div", "field-row three", [priority.input(), attempts.input(), most.input()]),
  ]);
}

export function keyForm(draft: Draft): Node {
  const key = new Field(draft, "key", "Job key");
  key.required = true;
  key.focused = true;
  return key.input();
}

/** A time on the local clock, with the ones that are asked for most. */
function runAt(m: Model, draft: Draft, label: string): Node {
  const field = new Field(draft, "run_at", label);
  field.kind = "datetime-local";
  const at = localTime(draft.value("run_at"));
  if (!isNaN(at)) field.hint = `${relative(at, m.serverNow)}: ${isoTime(at).substring(0, 19)}Z`;
  return box("div", "run-at", [
    field.input(),
    box("div", "shortcuts", [
      button("now", "dialog.later", "0", "tiny"),
      button("+5m", "dialog.later", "5", "tiny"),
      button("+1h", "dialog.later", "60", "tiny"),
      button("+1d", "dialog.later", "1440", "tiny"),
    ]),
  ]);
}
