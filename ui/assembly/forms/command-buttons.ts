/** The buttons that open the dialogs of commands on jobs. */
import { button } from "../controls/button";
import { Command, commands } from "../generated/commands";
import { ListedJob } from "../generated/records";
import { Node } from "../lib/node";

/** Returns the actions for these jobs, in the order of the server's list. */
export function commandsFor(jobs: ListedJob[]): Command[] {
  const offered: Command[] = [];
  for (let i = 0; i < commands.length; i++) {
    if (commands[i].suits(jobs)) offered.push(commands[i]);
  }
  return offered;
}

/** A button that opens the command's dialog. */
export function dialogButton(command: Command, kind: string): Node {
  return button(command.verb + "…", "ask." + command.name, "", kind);
}
