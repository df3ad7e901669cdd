/** The dialog that adds a job. Its form suggests names, and checks the JSON while the user types. */
import { addLine, fill, hasKey } from "../adding/add-line";
import { completeOptions, MoreOptions } from "../adding/more-options";
import { NewJobFacts } from "../adding/new-job";
import { spanText } from "../controls/age";
import { button, commandLine } from "../controls/button";
import { part, segments } from "../controls/tabs";
import { Draft } from "../forms/draft";
import { Field, suggestions } from "../forms/field";
import { Form } from "../forms/form";
import { jsonField } from "../forms/json-field";
import { timeField } from "../forms/time-field";
import { Command } from "../generated/commands";
import { JobActionResult, readJobActionResult } from "../generated/records";
import { after } from "../host";
import { JsonReader } from "../lib/json-reader";
import { box, leaf, Node, nothing, text } from "../lib/node";
import { parseWhole } from "../lib/number";
import { jobPath } from "../model/links";
import { Model } from "../model/model";
import { OF_TASK, OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import { CommandDialog, isReadable } from "./command";

const MODES: string[] = ["replace", "preserve-run-at", "unsafe-dedupe"];
const MODE_WORDS: string[] = ["Replace it", "Keep its time", "Add none"];

/** The pause in typing after which a request is sent. */
const TYPING_MS: i32 = 250;

export class AddDialog extends CommandDialog {
  private facts: NewJobFacts = new NewJobFacts("add");
  private more: MoreOptions = new MoreOptions();
  /** The contents of the form, kept after the dialog is closed. */
  private unsent: Draft | null = null;
  private typing: i32 = 0;

  constructor(command: Command) {
    super(command);
    this.wide = true;
  }

  /** `arg`: `template` for a copy of `m.shared.template`, `task ` followed by a task's name, or empty. */
  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    const template = m.shared.template;
    const unsent = this.unsent;
    if (arg === "template" && template !== null) fill(dialog.draft, template);
    else if (unsent !== null) dialog.draft = unsent;
    else dialog.draft.set("payload", "{}");
    if (arg.startsWith(OF_TASK)) dialog.draft.set("identifier", arg.substring(OF_TASK.length));
    m.shared.template = null;
    this.unsent = dialog.draft;
    const draft = dialog.draft;
    this.facts.open(m);
    this.more.begin();
    this.readFacts(m, draft, "identifier");
    this.readFacts(m, draft, "queue");
    this.readFacts(m, draft, "key");
    return super.open(m, dialog, "");
  }

  override reset(): void {
    this.unsent = null;
    this.facts = new NewJobFacts("add");
  }

  override onInput(_m: Model, dialog: OpenDialog, field: string): void {
    completeOptions(dialog.draft);
    if (field !== "identifier" && field !== "key" && field !== "queue") return;
    this.typing++;
    after(TYPING_MS, "dialog.typed", `${this.typing} ${field}`);
  }

  override onInputPause(m: Model, dialog: OpenDialog, arg: string): void {
    const space = arg.indexOf(" ");
    if (arg.substring(0, max(space, 0)) === this.typing.toString()) {
      this.readFacts(m, dialog.draft, arg.substring(space + 1));
    }
  }

  private readFacts(m: Model, draft: Draft, field: string): void {
    const typed = draft.value(field);
    if (field === "identifier") this.facts.requestTask(m, typed);
    else if (field === "key") this.facts.requestKey(m, typed);
    else if (field === "queue") this.facts.requestQueue(m, typed);
  }

  override onAnswer(_m: Model, _dialog: OpenDialog, request: Pending, body: string): void {
    this.facts.onAnswer(request, body);
  }

  override form(m: Model, dialog: OpenDialog): Node {
    const draft = dialog.draft;
    const names = this.facts;
    const queue = this.field("queue", "Queue", draft);
    queue.list = "add-queues";
    queue.hint = names.queueNote(draft.value("queue"));
    const priority = this.field("priority", "Priority", draft);
    priority.hint = "Lower runs earlier.";
    const attempts = this.field("max_attempts", "Max attempts", draft);
    // The estimate uses the default delays, so it is not shown for another retry policy.
    if (draft.value("retry").length === 0) attempts.hint = lastsFor(draft.value("max_attempts"));
    const key = this.field("key", "Key", draft);
    const keyNote = names.keyNote(draft.value("key"));
    if (keyNote.length > 0) key.hint = keyNote;
    const flags = this.field("flags", "Flags", draft);
    flags.placeholder = "separated by commas";
    return box("div", "form", [
      box("div", "field-row", [this.task(draft), queue.input()]),
      jsonField(this.field("payload", "Payload", draft)),
      box("div", "field-row three", [
        timeField(draft, "run_at", "Run", m.serverNow),
        attempts.input(),
        priority.input(),
      ]),
      box("div", "field-row", [key.input(), this.mode(draft)]),
      flags.input(),
      this.more.view(this.command, draft, m.serverNow),
      commandLine(addLine(draft, m.access.session.schema, m.serverNow)),
      suggestions("add-tasks", names.names()),
      suggestions("add-queues", names.queueNames()),
    ]);
  }

  override footnote(): string {
    return "Draft kept until this page is reloaded";
  }

  private field(name: string, label: string, draft: Draft): Field {
    const declared = this.command.field(name);
    const made = new Field(draft, name, label);
    made.placeholder = declared.fallback;
    made.hint = declared.hint;
    made.required = declared.required;
    made.remark = name === "queue" || name === "key" || name === "flags" ? "optional" : "";
    return made;
  }

  private task(draft: Draft): Node {
    const typed = draft.value("identifier");
    const field = this.field("identifier", "Task", draft);
    field.focused = true;
    field.list = "add-tasks";
    const warning = this.facts.warning(typed);
    field.hint = warning;
    const suggestion = this.facts.suggestion(typed);
    if (suggestion.length > 0) {
      field.hint = warning + " Did you mean ";
      field.beside = box("span", "", [
        button(suggestion, "dialog.fill", "identifier " + suggestion, "as-link"),
        text("?"),
      ]);
    }
    return box("div", warning.length > 0 ? "unsound" : "", [field.input()]);
  }

  private mode(draft: Draft): Node {
    if (!hasKey(draft)) return nothing;
    const mode = draft.value("job_key_mode");
    const parts: Node[] = [];
    for (let i = 0; i < MODES.length; i++) {
      const isOn = mode === MODES[i] || (mode.length === 0 && i === 0);
      const words = MODE_WORDS[i];
      parts.push(part(words, "dialog.fill", "job_key_mode " + MODES[i], isOn));
    }
    const message = this.facts.modeNote(draft.value("key"), mode);
    return box("div", "field", [
      leaf("span", "label", "If the key exists"),
      segments("If the key exists", parts),
      message.length > 0 ? leaf("p", "hint", message) : nothing,
    ]);
  }

  protected override members(m: Model, dialog: OpenDialog, form: Form): void {
    // Without a key, the form does not show the mode, and the server may refuse a mode.
    if (!hasKey(dialog.draft)) dialog.draft.set("job_key_mode", "");
    super.members(m, dialog, form);
    if (dialog.draft.fault("identifier").length > 0) {
      dialog.draft.reject("identifier", "Enter a task name.");
    }
  }

  override done(m: Model, _write: Pending, body: string): void {
    this.unsent = null;
    const r = new JsonReader(body);
    const result: JobActionResult = readJobActionResult(r);
    if (!isReadable(m, r)) return;
    const message = result.message.length > 0 ? result.message : "Added the job";
    // If a throttle has dropped the job, the answer contains no job.
    const isAdded = !result.isDuplicate && result.jobs.length === 1;
    const notice = isAdded ? m.notices.good(message) : m.notices.warn(message);
    if (result.jobs.length === 1) notice.link = jobPath(result.jobs[0].id);
  }
}

/** Returns a sentence about the sum of the retries' delays. The delay after attempt n is e^n s, at most e^10 s. */
function lastsFor(typed: string): string {
  const attempts = parseWhole(typed.trim().length > 0 ? typed.trim() : "25");
  if (!attempts.valid || attempts.value < 1 || attempts.value > 32767) return "";
  if (attempts.value === 1) return "No retries.";
  let seconds: f64 = 0;
  let wait: f64 = 1;
  for (let i = 1; i < <i32>attempts.value; i++) {
    if (i <= 10) wait *= Math.E;
    seconds += wait;
  }
  return `Stops retrying after about ${spanText(seconds * 1000)}.`;
}
