/**
 * The dialog of an action on all jobs that match a query. Before the action starts, the dialog shows a preview. Jobs
 * that are added after the preview are not changed.
 */
import { countedValue } from "../controls/value";
import { commandForm, writeFields } from "../forms/command-form";
import { checkbox } from "../forms/field";
import { Form } from "../forms/form";
import { dueNote } from "../forms/time-field";
import { Command, JobAction, jobActionNamed, jobActions, withJobs } from "../generated/commands";
import {
  OperationSubject,
  Rehearsal,
  readOperation,
  readOperationSubject,
  readRehearsal,
  Would,
} from "../generated/records";
import { navigate } from "../host";
import { JsonReader } from "../lib/json-reader";
import { JsonWriter } from "../lib/json-writer";
import { box, leaf, Node, nothing } from "../lib/node";
import { operationPath } from "../model/links";
import { Dialog, Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import {
  ADD_TABLES,
  addsTables,
  addTables,
  isSame,
  unstartable,
  withTables,
} from "../operations/missing-tables";
import { rehearsalView, samples } from "../operations/rehearsed";
import {
  affectedJobs,
  begin,
  chosenJobs,
  setDefaults,
  settingFields,
} from "../operations/settings";

const TOPIC = "ask.operation";
/** A topic of its own, so that discarding a preview does not cancel the start of an operation. */
const PREVIEWS = "ask.preview";
const PATH = "api/operations";
const AGAIN = "again";
/** The steps: the values of `count` in the dialog's requests. */
const PREVIEW = 0;
const START = 1;
const ADDING = 2;
const PREVIEW_AGAIN = 3;

export class OperationDialog extends Dialog {
  private subject: OperationSubject = OperationSubject.empty();
  private action: JobAction = jobActions[0];
  private rehearsal: Rehearsal | null = null;

  constructor() {
    super("operation");
    this.wide = true;
  }

  /** `arg`: JSON such as `{"q":…,"action":…}`. If the JSON also has `changes`, the dialog has no fields for changes. */
  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    const r = new JsonReader(arg);
    const subject = readOperationSubject(r);
    r.end();
    const action = jobActionNamed(subject.action);
    if (r.failed || action === null) return false;
    this.subject = subject;
    this.action = action;
    dialog.jobs = [];
    dialog.workers = [];
    setDefaults(dialog.draft, action);
    const q = subject.q;
    if (q.startsWith("is:failed") || q.includes(" is:failed")) dialog.draft.set(AGAIN, "on");
    this.discard(m);
    if (!this.hasForm) this.rehearse(m, dialog);
    return true;
  }

  private get hasForm(): bool {
    return this.command.fields.length > 0 && this.subject.changes === "null";
  }

  private get command(): Command {
    return this.action.command;
  }

  override title(dialog: OpenDialog): string {
    const rehearsal = this.rehearsal;
    const jobs = rehearsal === null ? "all matching jobs" : chosenJobs(dialog.draft, rehearsal);
    return withJobs(this.action.ask, jobs) + "?";
  }

  override verb(dialog: OpenDialog): string {
    const rehearsal = this.rehearsal;
    if (rehearsal === null) return "Preview";
    if (addsTables(rehearsal.missing)) return ADD_TABLES;
    return withJobs(this.action.ask, affectedJobs(dialog.draft, rehearsal));
  }

  override text(_m: Model, _dialog: OpenDialog): string {
    const rehearsal = this.rehearsal;
    const consequence = this.command.consequence;
    if (rehearsal === null) return consequence;
    const missing = rehearsal.missing;
    if (missing !== null) return withTables(consequence, missing);
    return `${consequence} Can be undone for 24 hours, for jobs that have not changed since.`;
  }

  override exception(_dialog: OpenDialog): string {
    const rehearsal = this.rehearsal;
    if (rehearsal === null) return "";
    const running = rehearsal.would.skipLockedValue;
    if (running.value === 0) return "";
    return `${countedValue(running, "job is", "jobs are")} locked right now and will be skipped.`;
  }

  override danger(_m: Model, _dialog: OpenDialog): bool {
    return this.command.destroys;
  }

  override blocked(_dialog: OpenDialog): string {
    const rehearsal = this.rehearsal;
    if (rehearsal === null) return "";
    const missing = rehearsal.missing;
    if (missing !== null && !missing.mayAdd) return "Required tables are missing.";
    if (rehearsal.would.changeValue.value > 0) return "";
    return rehearsal.count.precision === "exact" ? "No job would change." : "";
  }

  override form(m: Model, dialog: OpenDialog): Node {
    const draft = dialog.draft;
    const rehearsal = this.rehearsal;
    return box("div", "form", [
      this.hasForm ? commandForm(this.command, draft, m.serverNow) : nothing,
      this.command.mayReset
        ? checkbox(draft, AGAIN, "Reset attempts to 0", "dialog.input")
        : nothing,
      rehearsal !== null
        ? box("div", "form", [
            rehearsalView(rehearsal),
            dueNote(rehearsal.firstRunAt, rehearsal.lastRunAt, m.serverNow),
            unstartable(rehearsal.missing),
            settingFields(m, draft, rehearsal, this.action),
            samples(rehearsal.sample),
          ])
        : leaf("p", "hint", this.waiting(m, dialog)),
    ]);
  }

  private waiting(m: Model, dialog: OpenDialog): string {
    return m.requests.isBusy(dialog)
      ? "Counting matching jobs…"
      : "Counts matching jobs. Nothing changes yet.";
  }

  override onInput(m: Model, dialog: OpenDialog, field: string): void {
    if (field === AGAIN) this.rehearse(m, dialog);
    else if (this.hasForm && this.isChange(field)) this.discard(m);
  }

  private isChange(field: string): bool {
    const fields = this.command.fields;
    for (let i = 0; i < fields.length; i++) if (fields[i].name === field) return true;
    return false;
  }

  private discard(m: Model): void {
    this.rehearsal = null;
    m.requests.cancel(PREVIEWS);
  }

  /** Called by the button `Preview again`. */
  override onInputPause(m: Model, dialog: OpenDialog, _arg: string): void {
    this.rehearse(m, dialog);
  }

  private rehearse(m: Model, dialog: OpenDialog): void {
    this.discard(m);
    dialog.draft.forgive();
    const previewRequest = this.previewRequest(m, dialog);
    if (!dialog.draft.faulty) m.send(dialog, previewRequest);
  }

  private previewRequest(m: Model, dialog: OpenDialog): Pending {
    const body = new JsonWriter().string("q", this.subject.q).string("action", this.subject.action);
    dialog.draft.now = m.serverNow;
    const form = new Form(dialog.draft);
    if (this.hasForm) writeFields(form, this.command);
    if (this.command.mayReset && dialog.draft.on(AGAIN)) form.body.int("attempts", 0);
    body.raw("changes", this.subject.changes === "null" ? form.body.end() : this.subject.changes);
    return new Pending(PREVIEWS, PATH, body.bool("dry_run", true).end());
  }

  override request(m: Model, dialog: OpenDialog): Pending {
    const rehearsal = this.rehearsal;
    if (rehearsal === null) return this.previewRequest(m, dialog);
    const missing = rehearsal.missing;
    if (missing === null) return this.starting(dialog, rehearsal);
    const adding = addTables(TOPIC, missing);
    adding.count = ADDING;
    return adding;
  }

  private starting(dialog: OpenDialog, rehearsal: Rehearsal): Pending {
    const begun = new Pending(TOPIC, PATH, begin(dialog.draft, rehearsal));
    // The count is above 0, so that a list clears its selection after the start.
    begun.count = START;
    return begun;
  }

  /** After the start of the operation, the operation's page opens, unless another dialog is open. */
  override done(m: Model, write: Pending, body: string): void {
    const r = new JsonReader(body);
    if (write.count !== START) {
      write.isStep = true;
      const open = m.dialog;
      if (open === null || open !== write.dialog) return;
      if (write.count === ADDING) this.previewAgain(m, open);
      else this.onPreview(m, open, write, r);
      return;
    }
    const operation = readOperation(r);
    r.end();
    if (r.failed) {
      m.notices.bad(`The operation was started, but the server's answer is invalid: ${r.error}`);
      return;
    }
    m.facts.operation = operation;
    if (m.dialog === null || m.dialog === write.dialog)
      navigate(operationPath(operation.id), false);
    else m.facts.left = operation.id;
  }

  /** Requests a new preview, because the server stores no preview while tables are missing. */
  private previewAgain(m: Model, dialog: OpenDialog): void {
    if (this.rehearsal === null) return;
    const previewRequest = this.previewRequest(m, dialog);
    previewRequest.count = PREVIEW_AGAIN;
    m.send(dialog, previewRequest);
  }

  private onPreview(m: Model, dialog: OpenDialog, write: Pending, r: JsonReader): void {
    const shown = this.rehearsal;
    const rehearsal = readRehearsal(r);
    r.end();
    if (this.action.reachesRunning) countRunning(rehearsal.would);
    if (r.failed) {
      dialog.error = `The server's preview is invalid: ${r.error}`;
      return;
    }
    if (write.count === PREVIEW) this.rehearsal = rehearsal;
    if (write.count !== PREVIEW_AGAIN || shown === null) return;
    this.rehearsal = rehearsal;
    if (!isSame(shown, rehearsal)) {
      dialog.error = "Tables added. Jobs have changed since: check the new preview.";
      return;
    }
    // Starts the operation, or adds tables that are still missing.
    const next = this.request(m, dialog);
    if (!dialog.draft.faulty) m.send(dialog, next);
  }

  override reset(): void {
    this.rehearsal = null;
  }
}

/** Counts the locked jobs as changed instead of skipped. */
function countRunning(would: Would): void {
  const running = would.skipLockedValue;
  would.changeValue.value += running.value;
  if (running.precision !== "exact") would.changeValue.precision = running.precision;
  running.value = 0;
}
