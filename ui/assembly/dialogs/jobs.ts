/** The dialog of a command that acts on selected jobs. */
import { commandForm, writeFields } from "../forms/command-form";
import { checkbox } from "../forms/field";
import { Form } from "../forms/form";
import { movedNote } from "../forms/time-field";
import { jobActionNamed, withJobs } from "../generated/commands";
import { JobActionResult, readJobActionResult, readPauseList } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { box, leaf, Node, nothing } from "../lib/node";
import { countText, numberText, partText } from "../lib/number";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import { isReadable, TablesDialog } from "./command";

const AGAIN = "again";
const ATTEMPTS = "attempts";

/** The only command on selected jobs that needs tables of an extension. */
const CANCEL = "cancel";

export class JobsDialog extends TablesDialog {
  /** If `arg` is `shown`, the dialog is for the job whose details are shown, even if other jobs are selected. */
  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    this.missing = null;
    if (this.name === CANCEL) m.requests.read(m.access, "cancel.tables", "api/pauses");
    const shown = m.shared.shown;
    if (arg === "shown" && shown !== null) dialog.jobs = [shown];
    // Failed jobs have no attempts left and would not run, so the attempts are reset by default.
    if (this.givesBack(dialog)) dialog.draft.set(AGAIN, "on");
    if (this.hasAttemptsField && dialog.count("failed") === dialog.jobs.length) {
      dialog.draft.set(ATTEMPTS, "0");
    }
    return dialog.jobs.length > 0;
  }

  /** The button that confirms gets the focus only if undo is possible. */
  override eager(m: Model, dialog: OpenDialog): bool {
    return m.access.session.canUndo && super.eager(m, dialog);
  }

  override onAnswer(_m: Model, _dialog: OpenDialog, _request: Pending, body: string): void {
    this.missing = readPauseList(new JsonReader(body)).missing;
  }

  /** Returns a title such as `Run 3 jobs now` or `Retry job 42`. */
  override title(dialog: OpenDialog): string {
    const jobs = dialog.jobs;
    const what = jobs.length === 1 ? `job ${jobs[0].id}` : countText(jobs.length, "job", "jobs");
    const action = jobActionNamed(this.command.name);
    return action === null ? `${this.command.verb} ${what}` : withJobs(action.ask, what);
  }

  protected override actionText(dialog: OpenDialog): string {
    return this.title(dialog);
  }

  protected override consequence(dialog: OpenDialog): string {
    return dialog.jobs.length === 1 ? this.command.consequenceOfOne : this.command.consequence;
  }

  override exception(dialog: OpenDialog): string {
    const locked = this.reachesRunning ? 0 : dialog.count("locked");
    if (locked === 0) return "";
    const isAll = locked === dialog.jobs.length;
    const rest = " locked by a worker and will be skipped.";
    if (locked === 1) return (isAll ? "It is" : "1 of them is") + rest;
    return (isAll ? "All" : numberText(locked)) + " of them are" + rest;
  }

  override blocked(dialog: OpenDialog): string {
    const isEveryLocked = dialog.count("locked") === dialog.jobs.length;
    return isEveryLocked && !this.reachesRunning ? "No job would change." : super.blocked(dialog);
  }

  private get reachesRunning(): bool {
    const action = jobActionNamed(this.command.name);
    return action !== null && action.reachesRunning;
  }

  private get hasAttemptsField(): bool {
    const fields = this.command.fields;
    for (let i = 0; i < fields.length; i++) if (fields[i].name === ATTEMPTS) return true;
    return false;
  }

  private spent(dialog: OpenDialog): string {
    const failed = this.hasAttemptsField ? dialog.count("failed") : 0;
    if (failed === 0) return "";
    return `${countText(failed, "job has", "jobs have")} no attempts left. To run again, set “Attempts used” to a lower number, such as 0.`;
  }

  private due(m: Model, dialog: OpenDialog): Node {
    let first: f64 = Infinity;
    let last: f64 = -Infinity;
    for (let i = 0; i < dialog.jobs.length; i++) {
      first = min(first, dialog.jobs[i].runAt);
      last = max(last, dialog.jobs[i].runAt);
    }
    return movedNote(dialog.draft, first, last, m.serverNow);
  }

  protected override fields(m: Model, dialog: OpenDialog): Node {
    if (!this.givesBack(dialog)) {
      const form = commandForm(this.command, dialog.draft, m.serverNow);
      const spent = this.spent(dialog);
      return box("div", "form", [
        form,
        this.due(m, dialog),
        spent.length > 0 ? leaf("p", "hint", spent) : nothing,
      ]);
    }
    const failed = dialog.count("failed");
    const other = dialog.jobs.length - failed;
    const hint =
      `${countText(failed, "job has", "jobs have")} no attempts left and would not run without this.` +
      (other > 0 ? ` It also applies to the other ${countText(other, "job", "jobs")}.` : "");
    return box("div", "form", [
      checkbox(dialog.draft, AGAIN, "Reset attempts to 0", "dialog.input"),
      leaf("p", "hint", hint),
    ]);
  }

  protected override members(_m: Model, dialog: OpenDialog, form: Form): void {
    const ids: i64[] = [];
    for (let i = 0; i < dialog.jobs.length; i++) ids.push(dialog.jobs[i].id);
    form.body.ints("ids", ids);
    if (dialog.draft.on(AGAIN)) form.body.int("attempts", 0);
    writeFields(form, this.command);
  }

  override request(m: Model, dialog: OpenDialog): Pending {
    const write = super.request(m, dialog);
    write.count = dialog.jobs.length;
    return write;
  }

  /** Shows the answer's sentence, and below the sentence the numbers of jobs, unless the sentence contains them. */
  protected override finished(m: Model, write: Pending, body: string): void {
    const r = new JsonReader(body);
    const result: JobActionResult = readJobActionResult(r);
    if (!isReadable(m, r)) return;
    // `done` leaves out jobs that were changed but have no attempts left. Without `done`, all changed jobs count.
    const count = result.done === i64.MIN_VALUE ? <i64>result.jobs.length : result.done;
    const numbers = `${numberText(count)} of ${countText(write.count, "job", "jobs")}`;
    const message = result.message;
    const sentence = message.length > 0 ? message : numbers;
    const isAll = count + result.cancelling === write.count;
    const notice = isAll ? m.notices.good(sentence) : m.notices.warn(sentence);
    notice.undo = result.operation;
    if (!sentence.includes(partText(count, write.count))) notice.detail = numbers;
  }

  /** Whether the form is only a checkbox that resets attempts to 0. */
  private givesBack(dialog: OpenDialog): bool {
    return this.command.mayReset && dialog.count("failed") > 0;
  }
}
