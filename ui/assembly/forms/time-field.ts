/** A field for a time by the local clock, with buttons for the most common times. */
import { ago, dateText, Times, timeUntil, zone } from "../controls/age";
import { button } from "../controls/button";
import { box, leaf, Node, nothing } from "../lib/node";
import { parseWhole } from "../lib/number";
import { Draft } from "./draft";
import { Field } from "./field";
import { dayOf, localField, NO_TIME, typedSeconds, typedTime } from "./local-time";

export function timeField(
  draft: Draft,
  name: string,
  label: string,
  now: f64,
  focused: bool = false,
): Node {
  const field = new Field(draft, name, label);
  field.focused = focused;
  field.placeholder = "in 2h, tomorrow 09:00";
  const typed = draft.value(name);
  const at = typedTime(typed, now);
  const times = new Times(now, false);
  if (!isNaN(at))
    field.hint = `${at < now ? ago(at, times) : timeUntil(at, times)}: ${datedWithDay(at, now)}`;
  else if (typed.trim().length > 0) draft.reject(name, NO_TIME);
  else field.hint = `Time zone of this browser: ${zone(now)}.`;
  return box("div", "run-at", [
    field.input(),
    box("div", "shortcuts", [
      // Only the field for the time at which a job is due has a button for the present time.
      name === "run_at" ? shortcut("now", name, 0) : nothing,
      shortcut("+5m", name, 5),
      shortcut("+1h", name, 60),
      shortcut("+1d", name, 1440),
    ]),
  ]);
}

/**
 * A note about when jobs will be due. `first` and `last`: the times at which the first and the last of the jobs are
 * due. If one of these times is NaN, there is no note.
 */
export function dueNote(first: f64, last: f64, now: f64): Node {
  if (isNaN(first) || isNaN(last)) return nothing;
  const words =
    first === last
      ? `Due ${datedWithDay(first, now)}.`
      : `Due from ${datedWithDay(first, now)} to ${datedWithDay(last, now)}.`;
  return leaf("p", "hint", words);
}

/**
 * A note about when jobs will be due after the changes in the form, if these include a shift or a spread. Before the
 * changes the jobs are due from `first` to `last`. A spread adds a delay that depends on the job's id, so the last time
 * in the note is only an upper limit.
 */
export function movedNote(draft: Draft, first: f64, last: f64, now: f64): Node {
  const shift = typedSeconds(draft.value("shift"));
  const spread = typedSeconds(draft.value("spread"));
  if (isNaN(shift) && isNaN(spread)) return nothing;
  const given = typedTime(draft.value("run_at"), now);
  const by = isNaN(shift) ? 0 : shift * 1000;
  const over = isNaN(spread) ? 0 : spread * 1000;
  return dueNote(
    (isNaN(given) ? first : given) + by,
    (isNaN(given) ? last : given) + by + over,
    now,
  );
}

/** Returns a text such as `tomorrow, Fri 27 Nov 2026 09:00:00 +01:00`. */
function datedWithDay(at: f64, now: f64): string {
  const days = (dayOf(at) - dayOf(now)) / 86400000;
  return (days === 0 ? "today, " : days === 1 ? "tomorrow, " : "") + dateText(at);
}

function shortcut(label: string, name: string, minutes: i32): Node {
  return button(label, "dialog.later", `${name} ${minutes}`, "s");
}

/** Fills in the time of a shortcut. `arg`: the field's name and the time in minutes from now, as in `run_at 60`. */
export function fillShortcut(draft: Draft, arg: string, now: f64): void {
  const space = arg.indexOf(" ");
  const minutes = <f64>parseWhole(arg.substring(space + 1)).value;
  draft.set(arg.substring(0, max(space, 0)), localField(now + minutes * 60000));
}
