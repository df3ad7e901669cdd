/** The dialog that removes a job by its key. First it shows the job that has this key. */
import { KeyHolder } from "../adding/key-holder";
import { Command } from "../generated/commands";
import { after } from "../host";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import { CommandDialog } from "./command";

const FIELD = "key";
/** The pause in typing after which the job with the typed key is requested, in milliseconds. */
const TYPING_MS: i32 = 250;

export class RemoveDialog extends CommandDialog {
  private holder: KeyHolder = new KeyHolder("remove.key");
  private typing: i32 = 0;

  constructor(command: Command) {
    super(command);
  }

  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    super.open(m, dialog, arg);
    this.holder.request(m, arg);
    return true;
  }

  override onInput(_m: Model, dialog: OpenDialog, _field: string): void {
    dialog.jobs = [];
    this.typing++;
    after(TYPING_MS, "dialog.typed", this.typing.toString());
  }

  override onInputPause(m: Model, dialog: OpenDialog, arg: string): void {
    if (arg === this.typing.toString()) this.holder.request(m, dialog.draft.value(FIELD));
  }

  override onAnswer(_m: Model, dialog: OpenDialog, _request: Pending, body: string): void {
    this.holder.onAnswer(body);
    const job = this.holder.of(dialog.draft.value(FIELD));
    dialog.jobs = job === null ? [] : [job];
  }

  override exception(dialog: OpenDialog): string {
    return dialog.jobs.length > 0 ? "" : this.holder.note(dialog.draft.value(FIELD));
  }

  /** Blocks the removal if the server has answered that no job has this key. */
  override blocked(dialog: OpenDialog): string {
    return this.exception(dialog);
  }
}
