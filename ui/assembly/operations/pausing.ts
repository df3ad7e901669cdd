/**
 * Pausing a queue, a task or everything, and resuming it. A target is `queue mail`, `task send` or `all`, as in the
 * arguments of dialogs.
 */
import { PAUSE } from "../controls/icon";
import { Fix } from "../generated/records";
import { List } from "../kit/list";
import { verbArg, verbOf, writeButton } from "../kit/verb";
import { JsonWriter } from "../lib/json-writer";
import { Node } from "../lib/node";
import { Model } from "../model/model";
import { keyOf, Shortcut } from "../model/shortcut";

export const ALL: string = "all";

/** Returns `queue` for `queue mail`, and `all` for everything. */
export function scopeOf(target: string): string {
  const space = target.indexOf(" ");
  return space < 0 ? target : target.substring(0, space);
}

/** Returns `queue mail` or `everything`. */
export function targetWords(target: string): string {
  return target === ALL ? "everything" : target;
}

/** Writes the members `scope` and `name` of a request's body. */
export function writeTarget(body: JsonWriter, target: string): JsonWriter {
  const scope = scopeOf(target);
  body.string("scope", scope);
  return target === ALL ? body : body.string("name", target.substring(scope.length + 1));
}

function resumeVerb(target: string): Fix {
  const body = writeTarget(new JsonWriter().string("action", "resume"), target);
  return verbOf("resume", "Resume…", "/api/pauses", body.end());
}

/** Returns the action that opens a dialog: to resume the target if it is paused, otherwise to pause it. */
function actionOn(isPaused: bool): string {
  return isPaused ? "ask.verb" : "ask.pause";
}

function argOn(target: string, isPaused: bool): string {
  return isPaused ? verbArg(resumeVerb(target)) : target;
}

export function pauseButton(m: Model, target: string, isPaused: bool, kind: string): Node {
  const label = isPaused ? "Resume…" : "Pause…";
  return writeButton(m, label, actionOn(isPaused), argOn(target, isPaused), kind);
}

/** The shortcut that pauses or resumes a target. */
export function pauseShortcut(
  target: string,
  isPaused: bool,
  keys: string,
  group: string,
): Shortcut {
  const label = `${isPaused ? "Resume" : "Pause"} ${targetWords(target)}…`;
  return new Shortcut(keys, label, actionOn(isPaused), argOn(target, isPaused), group, PAUSE);
}

/**
 * Adds a shortcut to `keys`, the shortcuts of a list, and returns `keys`. The shortcut pauses or resumes the target of
 * the current row. It is added only if the user may write and has moved to a row.
 */
export function withPause(m: Model, list: List, keys: Shortcut[]): Shortcut[] {
  if (!m.access.canWrite || !list.isWalked || list.current >= list.rows.length) return keys;
  const row = list.rows[list.current];
  keys.push(pauseShortcut(row.pauses, row.isPaused, keyOf("pause"), "List"));
  return keys;
}

/** Whether an incident reports that the target is paused. */
export function isPaused(m: Model, target: string): bool {
  const scope = scopeOf(target);
  const id = `paused:${scope}:${target.substring(scope.length + 1)}`;
  const list = m.facts.incidents.incidents;
  for (let i = 0; i < list.length; i++) if (list[i].id === id) return true;
  return false;
}
