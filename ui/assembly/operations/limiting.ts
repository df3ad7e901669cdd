/**
 * The limits of a target, and buttons and shortcuts for limits. A target is a queue or a task, such as `queue mail`.
 */
import { matches } from "../../../src/domain/portable/name-pattern";
import { GAUGE } from "../controls/icon";
import { Fix, ListedLimit } from "../generated/records";
import { List } from "../kit/list";
import { verbArg, verbOf, writeButton } from "../kit/verb";
import { JsonWriter } from "../lib/json-writer";
import { Node } from "../lib/node";
import { Model } from "../model/model";
import { keyOf, Shortcut } from "../model/shortcut";
import { scopeOf } from "./pausing";

export const SET = "ask.limit-set";
/** In the argument of SET, the name of a limit to change follows this text. */
export const LIMIT = "limit ";

/** The topic of the requests of requestLimits(). */
export const KNOWN = "limits.known";

/** Requests the limits, except on the page `limits`, which has its own request. */
export function requestLimits(m: Model): void {
  if (m.page.name !== "limits") m.requests.read(m.access, KNOWN, "api/limits", true);
}

/** Returns the limits of a target, in the server's order. */
export function limitsOf(m: Model, target: string): ListedLimit[] {
  const all = m.facts.limits;
  const scope = scopeOf(target);
  const name = target.substring(scope.length + 1);
  const found: ListedLimit[] = [];
  for (let i = 0; i < all.length; i++) {
    if (all[i].scope === scope && matches(all[i].match, name)) found.push(all[i]);
  }
  return found;
}

/** The button that sets or changes a limit. `arg`: a target, or LIMIT and a limit's name, or empty. */
export function setButton(m: Model, label: string, arg: string, kind: string): Node {
  return writeButton(m, label, SET, arg, kind);
}

/** The shortcut that sets a limit on a target. If `target` is empty, the user enters a queue or a task. */
export function setShortcut(target: string, keys: string, group: string): Shortcut {
  const label = target.length > 0 ? `Set a limit on ${target}…` : "Set a limit…";
  return new Shortcut(keys, label, SET, target, group, GAUGE);
}

/** Returns the key that sets a limit. */
export function setKey(): string {
  return keyOf("limit-set");
}

/** Adds the shortcut that sets a limit on the target of the list's current row. Returns `keys`. */
export function withLimit(m: Model, list: List, keys: Shortcut[]): Shortcut[] {
  if (m.access.canWrite && list.isWalked && list.current < list.rows.length) {
    keys.push(setShortcut(list.rows[list.current].pauses, setKey(), "List"));
  }
  return keys;
}

function verb(action: string, label: string, name: string): Fix {
  const body = new JsonWriter().string("action", action).string("name", name);
  return verbOf(action, label, "/api/limits", body.end());
}

function removal(name: string): Fix {
  return verb("remove", `Remove the limit ${name}…`, name);
}

function end(name: string): Fix {
  return verb("end-back-off", `End the back-off of the limit ${name}…`, name);
}

export function removeButton(m: Model, name: string, kind: string): Node {
  return writeButton(m, "Remove…", "ask.verb", verbArg(removal(name)), kind);
}

export function endButton(m: Model, name: string): Node {
  return writeButton(m, "End back-off…", "ask.verb", verbArg(end(name)), "");
}

/** The shortcuts of the actions on a limit. `keys`: the keys of the first action. */
export function limitKeys(limit: ListedLimit, keys: string, group: string): Shortcut[] {
  const name = limit.name;
  const list = [
    new Shortcut(keys, `Change the limit ${name}…`, SET, LIMIT + name, group, GAUGE),
    verbShortcut(removal(name), group),
  ];
  if (limit.backingOff !== null) list.push(verbShortcut(end(name), group));
  return list;
}

function verbShortcut(does: Fix, group: string): Shortcut {
  return new Shortcut("", does.label, "ask.verb", verbArg(does), group, GAUGE);
}
