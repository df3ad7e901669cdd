/** The dialog that pauses a named queue, a task or all jobs, or changes such a pause. */
import { writeFields } from "../forms/command-form";
import { Form } from "../forms/form";
import { localField } from "../forms/local-time";
import { ListedPause, readPauseList } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import { scopeOf, targetWords, writeTarget } from "../operations/pausing";
import { TablesDialog } from "./command";

export class PauseDialog extends TablesDialog {
  private target: string = "";
  private isChange: bool = false;

  /** `arg`: what to pause. It is of the form `queue mail`, `task send` or `all`. */
  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    this.target = arg;
    this.isChange = false;
    m.requests.read(m.access, "pause.list", "api/pauses");
    return super.open(m, dialog, "");
  }

  override onAnswer(_m: Model, dialog: OpenDialog, _request: Pending, body: string): void {
    const list = readPauseList(new JsonReader(body));
    this.missing = list.missing;
    for (let i = 0; i < list.pauses.length; i++) {
      if (targetOf(list.pauses[i]) === this.target) this.fill(dialog, list.pauses[i]);
    }
  }

  /** Fills in the reason and the end of the existing pause, unless the user has already entered a reason or a time. */
  private fill(dialog: OpenDialog, pause: ListedPause): void {
    const draft = dialog.draft;
    const reason = pause.reason;
    this.isChange = true;
    if (draft.value("reason").length + draft.value("resume_at").length > 0) return;
    if (reason !== null) draft.set("reason", reason);
    if (!isNaN(pause.until)) draft.set("resume_at", localField(pause.until));
  }

  override title(_dialog: OpenDialog): string {
    const what = targetWords(this.target);
    return this.isChange ? `Change the pause of ${what}` : `Pause ${what}`;
  }

  protected override actionText(_dialog: OpenDialog): string {
    return this.isChange ? "Change pause" : "Pause " + scopeOf(targetWords(this.target));
  }

  protected override members(_m: Model, _dialog: OpenDialog, form: Form): void {
    writeTarget(form.body, this.target);
    writeFields(form, this.command);
  }
}

function targetOf(pause: ListedPause): string {
  const name = pause.name;
  return name === null ? pause.scope : `${pause.scope} ${name}`;
}
