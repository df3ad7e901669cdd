/** The parts of dialogs whose action needs tables that the schema lacks. */
import { commandLine } from "../controls/button";
import { note } from "../controls/empty";
import { INFO, icon } from "../controls/icon";
import { MissingTables, Rehearsal, Value } from "../generated/records";
import { JsonWriter } from "../lib/json-writer";
import { box, leaf, Node, nothing } from "../lib/node";
import { Pending } from "../model/requests";

export const ADD_TABLES: string = "Add tables and continue";

/** Whether the dialog adds tables before the action: tables are missing, and the admin may add them. */
export function addsTables(missing: MissingTables | null): bool {
  return missing !== null && missing.mayAdd;
}

export function addTables(topic: string, missing: MissingTables): Pending {
  const body = new JsonWriter().string("action", "add").string("name", missing.extension).end();
  return new Pending(topic, "api/extensions", body);
}

/** Returns `sentence`, the consequence of an action, with a sentence about the tables if the dialog adds tables. */
export function withTables(sentence: string, missing: MissingTables | null): string {
  return addsTables(missing)
    ? sentence + " Adds the missing tables first; workers can keep running."
    : sentence;
}

/**
 * Returns a note if the admin cannot use the tables and may not add them. The note has the command that adds the
 * tables. If the tables exist and only privileges are missing, there is no command, and the note has
 * `missing.sentence`: what is missing and what to do.
 */
export function unstartable(missing: MissingTables | null): Node {
  if (missing === null || missing.mayAdd) return nothing;
  const command = missing.command;
  const sentence =
    command === null
      ? missing.sentence + "."
      : "This needs tables that this role may not add. The schema's owner runs:";
  return note("warn", [
    icon(INFO),
    box("div", "", [leaf("span", "", sentence), command === null ? nothing : commandLine(command)]),
  ]);
}

/** Whether the numbers of jobs agree in the previews from before and after the tables were added. */
export function isSame(before: Rehearsal, after: Rehearsal): bool {
  return (
    agree(before.would.changeValue, after.would.changeValue) &&
    agree(before.would.skipLockedValue, after.would.skipLockedValue)
  );
}

/** Numbers agree if their intervals overlap. The interval of an exact number contains only this number. */
function agree(a: Value, b: Value): bool {
  return leastOf(a) <= mostOf(b) && leastOf(b) <= mostOf(a);
}

function leastOf(value: Value): i64 {
  return value.precision === "estimated" ? value.low : value.value;
}

function mostOf(value: Value): i64 {
  if (value.precision === "capped") return i64.MAX_VALUE;
  return value.precision === "estimated" && value.high !== i64.MIN_VALUE ? value.high : value.value;
}
