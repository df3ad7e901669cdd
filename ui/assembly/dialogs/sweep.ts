/** Sweeps with the settings of the maintenance page, after a dry run with the same. */
import { writeFields } from "../forms/command-form";
import { Form } from "../forms/form";
import { Node, nothing } from "../lib/node";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { CommandDialog } from "./command";

export class SweepDialog extends CommandDialog {
  override text(_m: Model, dialog: OpenDialog): string {
    return `${this.command.consequence} The last dry run said: ${dialog.note}.`;
  }

  override form(_m: Model, _dialog: OpenDialog): Node {
    return nothing;
  }

  protected override members(_m: Model, _dialog: OpenDialog, form: Form): void {
    form.body.bool("dry_run", false);
    writeFields(form, this.command);
  }
}
