/** Pauses a queue, a task or everything; adds the tables for it first where the schema lacks them. */
import { writeFields } from "../forms/command-form";
import { Form } from "../forms/form";
import { localField } from "../forms/local-time";
import { ListedPause, MissingTables, readPauseList } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { box, Node } from "../lib/node";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import {
  ADD_TABLES,
  addsTables,
  addTables,
  unstartable,
  withTables,
} from "../operations/missing-tables";
import { scopeOf, targetWords, writeTarget } from "../operations/pausing";
import { CommandDialog } from "./command";

export class PauseDialog extends CommandDialog {
  private target: string = "";
  private missing: MissingTables | null = null;
  private isChange: bool = false;

  /** `arg`: `queue mail`, `task send` or `all`. */
  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    this.target = arg;
    this.missing = null;
    this.isChange = false;
    m.requests.read(m.access, "pause.list", "api/pauses");
    return super.open(m, dialog, "");
  }

  override take(m: Model, _request: Pending, body: string): void {
    const list = readPauseList(new JsonReader(body));
    const dialog = m.dialog;
    this.missing = list.missing;
    if (dialog === null || dialog.name !== this.name) return;
    for (let i = 0; i < list.pauses.length; i++) {
      if (targetOf(list.pauses[i]) === this.target) this.fill(dialog, list.pauses[i]);
    }
  }

  /** The present pause, where nothing was typed yet. */
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

  override verb(_dialog: OpenDialog): string {
    if (addsTables(this.missing)) return ADD_TABLES;
    return this.isChange ? "Change pause" : "Pause " + scopeOf(targetWords(this.target));
  }

  override text(_m: Model, _dialog: OpenDialog): string {
    return withTables(this.command.consequence, this.missing);
  }

  override blocked(_dialog: OpenDialog): string {
    return this.missing === null || addsTables(this.missing) ? "" : "Required tables are missing.";
  }

  override form(m: Model, dialog: OpenDialog): Node {
    return box("div", "form", [unstartable(this.missing), super.form(m, dialog)]);
  }

  override request(m: Model, dialog: OpenDialog): Pending {
    const pausing = super.request(m, dialog);
    const missing = this.missing;
    return missing === null ? pausing : addTables(pausing.topic, missing);
  }

  protected override members(_m: Model, _dialog: OpenDialog, form: Form): void {
    writeTarget(form.body, this.target);
    writeFields(form, this.command);
  }

  /** The tables are there now: pauses, unless the dialog was closed meanwhile. */
  override done(m: Model, write: Pending, body: string): void {
    if (write.path === this.command.path) {
      super.done(m, write, body);
      return;
    }
    const dialog = m.dialog;
    m.keepDialog = true;
    this.missing = null;
    if (dialog === null || dialog.name !== this.name || !dialog.busy) return;
    m.requests.write(m.access, this.request(m, dialog));
  }
}

function targetOf(pause: ListedPause): string {
  const name = pause.name;
  return name === null ? pause.scope : `${pause.scope} ${name}`;
}
