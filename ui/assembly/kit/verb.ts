/** Buttons of actions, and the arguments of their dialogs. A Fix is an action with the request that performs it. */
import { button, offButton } from "../controls/button";
import { Fix } from "../generated/records";
import { JsonWriter, quote } from "../lib/json-writer";
import { leaf, Node, nothing } from "../lib/node";
import { Model } from "../model/model";
import { keyOf, Shortcut } from "../model/shortcut";
import { List } from "./list";
import { Row } from "./row";

/** Returns the button of an action; nothing if the page may not write. While the data are stale, returns `Offline`. */
export function verbButton(m: Model, verb: Fix | null, kind: string): Node {
  if (verb === null || !m.access.canWrite) return nothing;
  if (m.live.isStale(m.now)) return leaf("span", "faint small", "Offline");
  return button(verb.label, "ask.verb", verbArg(verb), kind);
}

/** Returns the argument of `ask.verb`, which opens the dialog of an action. */
export function verbArg(verb: Fix): string {
  return `{"action":${quote(verb.action)},"label":${quote(verb.label)},"post":{"path":${quote(verb.post.path)},"body":${verb.post.body}}}`;
}

/** Returns an operation on all jobs that match the query, as a Fix. */
export function operationVerb(action: string, label: string, query: string): Fix {
  return verbOf(action, label, "/api/operations", operationArg(action, query));
}

/** Returns the argument of `ask.operation`, which opens the dialog of an operation. */
export function operationArg(action: string, query: string): string {
  return new JsonWriter().string("q", query).string("action", action).end();
}

/** Returns the action that unlocks the jobs and queues of these workers. */
export function unlockVerb(label: string, workers: string[]): Fix {
  const body = new JsonWriter().string("action", "force-unlock").strings("worker_ids", workers);
  return verbOf("force-unlock", label, "/api/maintenance", body.end());
}

/** Returns the action that cancels a job. */
export function cancelVerb(job: i64): Fix {
  const body = new JsonWriter().string("action", "cancel").ints("ids", [job]);
  return verbOf("cancel", "Cancel…", "/api/jobs/action", body.end());
}

/** Returns an action as a Fix. `body`: JSON. */
export function verbOf(action: string, label: string, path: string, body: string): Fix {
  const verb = Fix.empty();
  verb.action = action;
  verb.label = label;
  verb.post.path = path;
  verb.post.body = body;
  return verb;
}

/** Returns the button of an action; nothing if the page may not write. While the data are stale, the button is off. */
export function writeButton(
  m: Model,
  label: string,
  action: string,
  arg: string,
  kind: string,
): Node {
  if (!m.access.canWrite) return nothing;
  if (m.live.isStale(m.now)) return offButton(label, kind);
  return button(label, action, arg, kind);
}

/** Returns the button that unlocks the worker of a row; nothing if the row has no worker to unlock. */
export function unlockButton(m: Model, row: Row, action: string): Node {
  return row.unlocks.length > 0 ? writeButton(m, "Unlock…", action, row.unlocks, "s") : nothing;
}

/**
 * Adds the shortcut that unlocks the worker of the list's current row, if there is a worker to unlock. Returns `keys`.
 */
export function withUnlock(m: Model, list: List, keys: Shortcut[], action: string): Shortcut[] {
  if (!m.access.canWrite || !list.isWalked || list.current >= list.rows.length) return keys;
  const worker = list.rows[list.current].unlocks;
  if (worker.length > 0)
    keys.push(new Shortcut(keyOf("force-unlock"), `Unlock ${worker}…`, action, worker, "List"));
  return keys;
}
