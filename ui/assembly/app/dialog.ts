/** Opens dialogs, and performs the actions of the open dialog: input into its form, sending its request, closing it. */
import { fillShortcut } from "../forms/time-field";
import { focus } from "../host";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";

/** Opens the dialog `name`, unless the admin is read-only or the dialog would have no subject. `arg`: the subject. */
export function ask(m: Model, name: string, arg: string): void {
  const record = m.dialogNamed(name);
  if (record === null || !m.access.canWrite) return;
  const dialog = new OpenDialog(name);
  m.page.aim(m, dialog);
  if (record.open(m, dialog, arg)) m.dialog = dialog;
}

export function updateDialog(m: Model, verb: string, arg: string, value: string): void {
  const dialog = m.dialog;
  if (dialog === null) return;
  if (verb === "close") m.dialog = null;
  else if (verb === "input") input(m, dialog, arg, value);
  else if (verb === "fill") {
    const space = max(arg.indexOf(" "), 0);
    input(m, dialog, arg.substring(0, space), arg.substring(space + 1));
  } else if (verb === "typed") {
    const record = m.dialogNamed(dialog.name);
    if (record !== null) record.onInputPause(m, dialog, arg);
  } else if (verb === "later") fillShortcut(dialog.draft, arg, m.serverNow);
  else if (verb === "submit") submit(m, dialog);
}

/** Sets the value of a field, after input by the user or after a click on a button that fills in the field. */
function input(m: Model, dialog: OpenDialog, field: string, value: string): void {
  dialog.draft.set(field, value);
  const record = m.dialogNamed(dialog.name);
  if (record !== null) record.onInput(m, dialog, field);
}

function submit(m: Model, dialog: OpenDialog): void {
  const record = m.dialogNamed(dialog.name);
  if (record === null || m.requests.isBusy(dialog) || !m.access.canWrite) return;
  if (record.blocked(dialog).length > 0) return;
  dialog.draft.now = m.serverNow;
  dialog.draft.forgive();
  const write = record.request(m, dialog);
  if (dialog.draft.faulty) {
    focus("field-" + dialog.draft.firstFault);
    return;
  }
  m.send(dialog, write);
}
