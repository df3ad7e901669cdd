/**
 * The list of all dialogs. VerbDialog confirms an action that the server or the page offers together with its request,
 * and sends this request unchanged. OperationDialog starts operations; ChangeDialog stops or undoes them. Each of the
 * other dialogs is for one command of the server. Several of these can be objects of the same class: JobsDialog, for
 * example, is used for several commands on selected jobs.
 */
import { Command, commands } from "../generated/commands";
import { Dialog } from "../model/model";
import { AddDialog } from "./add";
import { ChangeDialog } from "./change";
import { CommandDialog, ScheduleDialog } from "./command";
import { JobsDialog } from "./jobs";
import { LimitDialog } from "./limit";
import { OperationDialog } from "./operation";
import { PauseDialog } from "./pause";
import { RemoveDialog } from "./remove";
import { SweepDialog } from "./sweep";
import { UpkeepDialog } from "./upkeep";
import { VerbDialog } from "./verb";

export const dialogs: Dialog[] = [new VerbDialog(), new OperationDialog(), new ChangeDialog()];
for (let i = 0; i < commands.length; i++) {
  // VerbDialog sends the commands whose dialog is `none`, for example those that unlock a worker or resume a queue.
  if (commands[i].dialog !== "none") dialogs.push(dialogOf(commands[i]));
}

function dialogOf(command: Command): Dialog {
  const control = command.dialog;
  if (control === "add") return new AddDialog(command);
  if (control === "remove") return new RemoveDialog(command);
  if (control === "sweep") return new SweepDialog(command);
  if (control === "pause") return new PauseDialog(command);
  if (control === "limit") return new LimitDialog(command);
  if (control === "schedule") return new ScheduleDialog(command);
  if (control === "upkeep") return new UpkeepDialog(command);
  return command.target === "ids" ? new JobsDialog(command) : new CommandDialog(command);
}
