/** Adds a job. Its form knows more than the declaration: known names, and JSON while it is typed. */
import { fieldOf } from "../forms/command-form";
import { Draft } from "../forms/draft";
import { Field, suggestions } from "../forms/field";
import { Form } from "../forms/form";
import { timeField } from "../forms/time-field";
import { Command } from "../generated/commands";
import { JobActionResult, readJobActionResult } from "../generated/records";
import { JsonReader, jsonFault } from "../lib/json-reader";
import { box, Node } from "../lib/node";
import { queueNames } from "../model/known";
import { jobPath } from "../model/links";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import { CommandDialog } from "./command";

const KEY_MODES: string[] = [
  "=Server default (replace)",
  "replace=replace: the older job's fields become these",
  "preserve-run-at=preserve-run-at: replace, but keep its time",
  "unsafe-dedupe=unsafe-dedupe: keep the older job as it is",
];

export class AddDialog extends CommandDialog {
  constructor(command: Command) {
    super(command);
    this.wide = true;
  }

  override open(m: Model, dialog: OpenDialog, _arg: string): bool {
    dialog.draft.set("payload", "{}");
    return super.open(m, dialog, "");
  }

  override form(m: Model, dialog: OpenDialog): Node {
    const draft = dialog.draft;
    const identifier = this.field("identifier", draft);
    identifier.focused = true;
    identifier.list = "add-tasks";
    const queue = this.field("queue", draft);
    queue.list = "add-queues";
    const priority = this.field("priority", draft);
    priority.hint = "A smaller number runs sooner.";
    const mode = this.field("job_key_mode", draft);
    mode.placeholder = "";
    mode.disabled = !hasKey(draft);
    const flags = this.field("flags", draft);
    flags.placeholder = "separated by commas";
    return box("div", "form", [
      identifier.input(),
      payloadField(this.field("payload", draft), draft.value("payload")),
      box("div", "field-row", [queue.input(), timeField(draft, "run_at", "Run at", m.serverNow)]),
      box("div", "field-row", [priority.input(), this.field("max_attempts", draft).input()]),
      box("div", "field-row", [this.field("key", draft).input(), mode.select(KEY_MODES)]),
      flags.input(),
      suggestions("add-tasks", m.known.tasks()),
      suggestions("add-queues", queueNames(m.overview)),
    ]);
  }

  private field(name: string, draft: Draft): Field {
    return fieldOf(this.command.field(name), draft);
  }

  protected override members(m: Model, dialog: OpenDialog, form: Form): void {
    // A mode without a key would be refused.
    if (!hasKey(dialog.draft)) dialog.draft.set("job_key_mode", "");
    super.members(m, dialog, form);
    if (dialog.draft.fault("identifier").length > 0) {
      dialog.draft.reject("identifier", "Name the task that runs the job.");
    }
  }

  override done(m: Model, _write: Pending, body: string): void {
    const r = new JsonReader(body);
    const result: JobActionResult = readJobActionResult(r);
    r.end();
    if (r.failed) {
      m.notices.bad(`The server did it, but its answer can't be read: ${r.error}`);
      return;
    }
    const said = result.message;
    const notice = m.notices.good(said.length > 0 ? said : "Added the job");
    if (result.jobs.length === 1) notice.link = jobPath(result.jobs[0].id);
  }
}

function hasKey(draft: Draft): bool {
  return draft.value("key").trim().length > 0;
}

/** The fault is told while typing, but only once there is something typed. */
function payloadField(field: Field, typed: string): Node {
  const fault = typed.trim().length > 0 ? jsonFault(typed) : "";
  field.placeholder = "";
  if (field.draft.fault(field.name).length === 0) {
    field.hint =
      fault.length > 0
        ? "Not JSON yet: " + fault
        : "JSON. It is sent exactly as typed: key order and long integers stay.";
  }
  return box("div", fault.length > 0 ? "payload unsound" : "payload", [field.area(7)]);
}
