/** Adds a job. Its form knows more than the declaration: known names, and JSON while it is typed. */
import { commandLine } from "../controls/button";
import { fieldOf } from "../forms/command-form";
import { Draft } from "../forms/draft";
import { Field, suggestions } from "../forms/field";
import { Form } from "../forms/form";
import { typedTime } from "../forms/local-time";
import { argument, quoted, shellLine } from "../forms/shell-line";
import { timeField } from "../forms/time-field";
import { Command } from "../generated/commands";
import { JobActionResult, ListedJob, readJobActionResult } from "../generated/records";
import { after } from "../host";
import { JsonReader, jsonFault } from "../lib/json-reader";
import { box, leaf, Node } from "../lib/node";
import { isoTime } from "../lib/time";
import { queueNames } from "../model/known";
import { jobPath } from "../model/links";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import { CommandDialog } from "./command";
import { NewJobFacts } from "./new-job";

const KEY_MODES: string[] = [
  "=Server default (replace)",
  "replace=replace: the older job's fields become these",
  "preserve-run-at=preserve-run-at: replace, but keep its time",
  "unsafe-dedupe=unsafe-dedupe: keep the older job as it is",
];

/** A rest in typing after which the server is asked. */
const TYPING_MS: i32 = 250;

export class AddDialog extends CommandDialog {
  private facts: NewJobFacts = new NewJobFacts();
  /** What was typed stays until the job is added or the session ends, wherever one goes meanwhile. */
  private kept: Draft | null = null;
  private typing: i32 = 0;

  constructor(command: Command) {
    super(command);
    this.wide = true;
  }

  /** `arg`: `template` for a job that is like another one (`m.known.template`). */
  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    const template = m.known.template;
    const kept = this.kept;
    if (arg === "template" && template !== null) fill(dialog.draft, template);
    else if (kept !== null) dialog.draft = kept;
    else dialog.draft.set("payload", "{}");
    m.known.template = null;
    this.kept = dialog.draft;
    const draft = dialog.draft;
    this.facts.open(m);
    this.facts.askTask(m, draft.value("identifier").trim());
    this.facts.askKey(m, draft.value("key").trim());
    return super.open(m, dialog, "");
  }

  override forget(): void {
    this.kept = null;
    this.facts = new NewJobFacts();
  }

  override typed(_m: Model, _dialog: OpenDialog, field: string): void {
    if (field !== "identifier" && field !== "key") return;
    this.typing++;
    after(TYPING_MS, "dialog.typed", `${this.typing} ${field}`);
  }

  override rested(m: Model, dialog: OpenDialog, arg: string): void {
    const draft = dialog.draft;
    if (arg === `${this.typing} identifier`) {
      this.facts.askTask(m, draft.value("identifier").trim());
    } else if (arg === `${this.typing} key`) this.facts.askKey(m, draft.value("key").trim());
  }

  override take(_m: Model, request: Pending, body: string): void {
    const draft = this.kept;
    if (draft === null) return;
    this.facts.take(request, body, draft.value("identifier").trim(), draft.value("key").trim());
  }

  override form(m: Model, dialog: OpenDialog): Node {
    const draft = dialog.draft;
    const identifier = this.field("identifier", draft);
    identifier.focused = true;
    identifier.list = "add-tasks";
    const warning = this.facts.warning(draft.value("identifier").trim());
    identifier.hint = warning;
    const key = this.field("key", draft);
    const keyNote = this.facts.keyNote(draft.value("key").trim(), draft.value("job_key_mode"));
    if (keyNote.length > 0) key.hint = keyNote;
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
      box("div", warning.length > 0 ? "unsound" : "", [identifier.input()]),
      payloadField(this.field("payload", draft), draft.value("payload")),
      box("div", "field-row", [queue.input(), timeField(draft, "run_at", "Run at", m.serverNow)]),
      box("div", "field-row", [priority.input(), this.field("max_attempts", draft).input()]),
      box("div", "field-row", [key.input(), mode.select(KEY_MODES)]),
      flags.input(),
      commandLine(addLine(draft, m.access.session.schema, m.serverNow)),
      leaf("p", "hint", "The draft stays here if you close this."),
      suggestions("add-tasks", this.facts.names()),
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
    this.kept = null;
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

/** What a job is to do; not its key, since the new one would take the place of the old one. */
function fill(draft: Draft, job: ListedJob): void {
  const task = job.taskIdentifier;
  const queue = job.queueName;
  draft.set("identifier", task === null ? "" : task);
  draft.set("payload", job.payload);
  if (queue !== null) draft.set("queue", queue);
  if (job.maxAttempts !== 25) draft.set("max_attempts", job.maxAttempts.toString());
  if (job.priority !== 0) draft.set("priority", job.priority.toString());
  const flags: string[] = [];
  const r = new JsonReader(job.flags);
  r.beginObject();
  while (r.nextKey()) {
    flags.push(r.key());
    r.skip();
  }
  if (!r.failed) draft.set("flags", flags.join(", "));
}

/** The same as a line for a shell, with the time as it is now meant. */
function addLine(draft: Draft, schema: string, now: f64): string {
  const payload = draft.value("payload").trim();
  let words = "add" + argument("identifier", draft.value("identifier").trim());
  if (payload.length > 0) words += argument("payload", payload);
  words += option("queue", draft.value("queue"));
  const at = typedTime(draft.value("run_at"), now);
  if (!isNaN(at)) words += " --run-at " + isoTime(at);
  words += option("max-attempts", draft.value("max_attempts"));
  words += option("key", draft.value("key"));
  if (hasKey(draft)) words += option("key-mode", draft.value("job_key_mode"));
  words += option("priority", draft.value("priority"));
  const flags = draft.value("flags").replaceAll(" ", ",").split(",");
  for (let i = 0; i < flags.length; i++) words += option("flag", flags[i]);
  return shellLine(words, schema);
}

/** With a sign of equality, since a value may begin with a dash. */
function option(name: string, value: string): string {
  const typed = value.trim();
  if (typed.length === 0) return "";
  return typed.startsWith("-") ? ` --${name}=${quoted(typed)}` : ` --${name} ${quoted(typed)}`;
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
