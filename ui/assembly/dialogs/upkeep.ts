/** The dialog of a maintenance task: migration, extension, index, cleanup. Its argument is a Chore (kit/chore.ts). */
import { Field } from "../forms/field";
import { Form } from "../forms/form";
import { Chore, choreOf, isTyped } from "../kit/chore";
import { Node, nothing } from "../lib/node";
import { numberText } from "../lib/number";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { CommandDialog } from "./command";

const TYPED = "typed";

export class UpkeepDialog extends CommandDialog {
  private chore: Chore = new Chore();

  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    const chore = choreOf(arg);
    this.chore = chore === null ? new Chore() : chore;
    // A command with one field needs a subject: without a subject, `cleanup` would run all kinds of cleanup.
    if (this.command.fields.length === 1 && this.chore.subject.length === 0) return false;
    return super.open(m, dialog, this.chore.subject);
  }

  override title(dialog: OpenDialog): string {
    return this.chore.title.length > 0 ? this.chore.title : super.title(dialog);
  }

  override verb(dialog: OpenDialog): string {
    return this.chore.title.length > 0 ? this.chore.title : super.verb(dialog);
  }

  override text(m: Model, dialog: OpenDialog): string {
    const sentence = this.chore.sentence;
    // The command's own text describes all kinds of cleanup, but the dialog runs only one of them.
    if (this.command.name === "cleanup") return sentence;
    return sentence.length > 0 ? `${sentence} ${this.command.consequence}` : super.text(m, dialog);
  }

  override danger(_m: Model, _dialog: OpenDialog): bool {
    return this.chore.isFinal;
  }

  override eager(_m: Model, _dialog: OpenDialog): bool {
    return false;
  }

  override form(_m: Model, dialog: OpenDialog): Node {
    const most = this.chore.typed;
    if (most === 0) return nothing;
    const field = new Field(dialog.draft, TYPED, `Type ${numberText(most)} to confirm`);
    field.focused = true;
    return field.input();
  }

  protected override members(m: Model, dialog: OpenDialog, form: Form): void {
    const most = this.chore.typed;
    if (most > 0 && !isTyped(dialog.draft.value(TYPED), most)) {
      dialog.draft.reject(TYPED, `Type ${numberText(most)}.`);
    }
    super.members(m, dialog, form);
  }
}
