/** A time on the local clock, with buttons for the ones that are asked for most. */
import { clockAt, Times, until } from "../controls/age";
import { button } from "../controls/button";
import { box, Node } from "../lib/node";
import { parseWhole } from "../lib/number";
import { isoTime } from "../lib/time";
import { Draft } from "./draft";
import { Field } from "./field";
import { localField, typedTime } from "./local-time";

export function timeField(draft: Draft, name: string, label: string, now: f64): Node {
  const field = new Field(draft, name, label);
  field.placeholder = "in 2h, +30m or a date";
  const at = typedTime(draft.value(name), now);
  if (!isNaN(at))
    field.hint = `${until(at, new Times(now, false))}, at ${clockAt(at, now)} (${isoTime(at).substring(11, 19)} UTC)`;
  return box("div", "run-at", [
    field.input(),
    box("div", "shortcuts", [
      shortcut("now", name, 0),
      shortcut("+5m", name, 5),
      shortcut("+1h", name, 60),
      shortcut("+1d", name, 1440),
    ]),
  ]);
}

function shortcut(label: string, name: string, minutes: i32): Node {
  return button(label, "dialog.later", `${name} ${minutes}`, "s");
}

/** Fills in the time that a shortcut's argument names. */
export function fillLater(draft: Draft, arg: string, now: f64): void {
  const space = arg.indexOf(" ");
  const minutes = <f64>parseWhole(arg.substring(space + 1)).value;
  draft.set(arg.substring(0, max(space, 0)), localField(now + minutes * 60000));
}
