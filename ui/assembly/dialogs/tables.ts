/** The dialog of a command that needs tables: it adds them first where the schema lacks them. */
import { MissingTables } from "../generated/records";
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
import { CommandDialog } from "./command";

export abstract class TablesDialog extends CommandDialog {
  protected missing: MissingTables | null = null;

  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    this.missing = null;
    return super.open(m, dialog, arg);
  }

  /** The text of its button where no table is missing. */
  protected deed(): string {
    return this.command.verb;
  }

  override verb(_dialog: OpenDialog): string {
    return addsTables(this.missing) ? ADD_TABLES : this.deed();
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
    const write = super.request(m, dialog);
    const missing = this.missing;
    return missing === null ? write : addTables(write.topic, missing);
  }

  /** The tables are there now: goes on, unless the dialog was closed meanwhile. */
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
