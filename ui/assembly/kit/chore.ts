/** A maintenance task that a row of a page offers, such as the cleanup of failed jobs. */

import { DOTS, icon } from "../controls/icon";
import { menu } from "../controls/menu";
import { Node, nothing } from "../lib/node";
import { numberText, parseWhole } from "../lib/number";
import { Model } from "../model/model";
import { writeButton } from "./verb";

export class Chore {
  /** The value of the request's first field, such as the name of an index; empty: not set. */
  subject: string = "";
  /** The title of the dialog, and the label of the button in it. */
  title: string = "";
  /** What the task does, for the dialog. */
  sentence: string = "";
  /** Whether the task cannot be undone. */
  isFinal: bool = false;
  /** The number that the user must type to confirm; 0: none. */
  typed: i64 = 0;

  /** A menu with the button, for a task that should not be started by mistake. */
  inMenu(m: Model, label: string, command: string): Node {
    if (!m.access.canWrite) return nothing;
    return menu("More actions: " + this.title, [icon(DOTS)], [this.button(m, label, command)]);
  }

  /** The button that opens the dialog. `command`: the command that performs the task. */
  button(m: Model, label: string, command: string): Node {
    const arg = [this.subject, this.title, this.sentence, this.isFinal ? "y" : "", `${this.typed}`];
    return writeButton(m, label, "ask." + command, arg.join("\n"), "s");
  }
}

/** Returns the task in a button's argument; null if there is none. */
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
