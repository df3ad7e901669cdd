/**
 * Every dialog: those of verbs for causes and queries, and one for each command of the server. Most follow from the declaration
 * alone; those that know more than it does have a file of their own.
 */
import { Command, commands } from "../generated/commands";
import { Dialog } from "../model/model";
import { AddDialog } from "./add";
import { ChangeDialog } from "./change";
import { CommandDialog } from "./command";
import { JobsDialog } from "./jobs";
import { OperationDialog } from "./operation";
import { RemoveDialog } from "./remove";
import { SweepDialog } from "./sweep";
import { UpkeepDialog } from "./upkeep";
import { VerbDialog } from "./verb";

const UPKEEP: string[] = [
  "cleanup",
  "migrate",
  "add-extension",
  "build-index",
  "cancel-index",
  "drop-index",
];

export const dialogs: Dialog[] = [new VerbDialog(), new OperationDialog(), new ChangeDialog()];
for (let i = 0; i < commands.length; i++) {
  // Workers are unlocked by the verb of whoever shows one.
  if (commands[i].name !== "unlock") dialogs.push(dialogOf(commands[i]));
}

function dialogOf(command: Command): Dialog {
  const name = command.name;
  if (name === "add") return new AddDialog(command);
  if (name === "remove") return new RemoveDialog(command);
  if (name === "sweep") return new SweepDialog(command);
  if (UPKEEP.includes(name)) return new UpkeepDialog(command);
  return command.target === "ids" ? new JobsDialog(command) : new CommandDialog(command);
}
