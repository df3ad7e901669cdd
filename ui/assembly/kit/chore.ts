/**
 * A maintenance task that a row of a page offers, such as the cleanup of failed jobs. The argument of the task's button
 * contains all fields of the Chore, for the dialog (dialogs/upkeep.ts).
 */

import { DOTS, icon } from "../controls/icon";
import { menu } from "../controls/menu";
import { Node, nothing } from "../lib/node";
import { numberText, parseWhole } from "../lib/number";
import { Model } from "../model/model";
import { writeButton } from "./verb";

export class Chore {
  /** The value of the first field of the request, such as the name of an index; empty: the field is not set. */
  subject: string = "";
  /** The title of the dialog, and the label of the button in it. */
  title: string = "";
  /** What the task does. The dialog shows `sentence` before the command's text; for `cleanup`, instead of that text. */
  sentence: string = "";
  /** Whether the task cannot be undone. */
  isFinal: bool = false;
  /** The number that the user must type to confirm; 0: no number. */
  typed: i64 = 0;

  /** A menu with the button, for a task that should not be started by mistake. */
  inMenu(m: Model, label: string, command: string): Node {
    if (!m.access.canWrite) return nothing;
    return menu("More actions: " + this.title, [icon(DOTS)], [this.button(m, label, command)]);
  }

  /** The button that opens the dialog. `command`: the name of the command that performs the task. */
  button(m: Model, label: string, command: string): Node {
    const arg = [this.subject, this.title, this.sentence, this.isFinal ? "y" : "", `${this.typed}`];
    return writeButton(m, label, "ask." + command, arg.join("\n"), "s");
  }
}

/** Returns the task in a button's argument; null if the argument contains no task. */
export function choreOf(arg: string): Chore | null {
  const parts = arg.split("\n");
  if (parts.length !== 5) return null;
  const chore = new Chore();
  chore.subject = parts[0];
  chore.title = parts[1];
  chore.sentence = parts[2];
  chore.isFinal = parts[3].length > 0;
  chore.typed = parseWhole(parts[4]).value;
  return chore;
}

/** Whether `text` is the number `count`, with or without thousands separators. */
export function isTyped(text: string, count: i64): bool {
  const typed = text.trim();
  return typed === numberText(count) || typed === count.toString();
}
