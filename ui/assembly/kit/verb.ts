/** The action that the server offers for a cause: a button that opens a dialog first. */
import { button, offButton } from "../controls/button";
import { Fix } from "../generated/records";
import { JsonWriter, quote } from "../lib/json-writer";
import { leaf, Node, nothing } from "../lib/node";
import { Model } from "../model/model";
import { keyOf, Shortcut } from "../model/shortcut";
import { List } from "./list";
import { Row } from "./row";

/** `kind` as for a button. While the database can't be reached, a text replaces the button. */
export function verbButton(m: Model, verb: Fix | null, kind: string): Node {
  if (verb === null || !m.access.canWrite) return nothing;
  if (m.live.isStale(m.now)) return leaf("span", "faint small", "database unreachable");
  return button(verb.label, "ask.verb", verbArg(verb), kind);
}

/** The argument of the dialog `verb`. */
export function verbArg(verb: Fix): string {
  return `{"action":${quote(verb.action)},"label":${quote(verb.label)},"post":{"path":${quote(verb.post.path)},"body":${verb.post.body}}}`;
}

/** An action on all jobs that a query finds: it is previewed first. */
export function operationVerb(action: string, label: string, query: string): Fix {
  return verbOf(action, label, "/api/operations", operationArg(action, query));
}

/** The argument of the dialog `operation`. */
export function operationArg(action: string, query: string): string {
  return new JsonWriter().string("q", query).string("action", action).end();
}

/** Frees what workers hold. */
export function unlockVerb(label: string, workers: string[]): Fix {
  const body = new JsonWriter().string("action", "force-unlock").strings("worker_ids", workers);
  return verbOf("force-unlock", label, "/api/maintenance", body.end());
}

/** An action as the server offers it. */
export function verbOf(action: string, label: string, path: string, body: string): Fix {
  const verb = Fix.empty();
  verb.action = action;
  verb.label = label;
  verb.post.path = path;
  verb.post.body = body;
  return verb;
}

/** A button for a write, off with its reason where writing is impossible now. */
export function writeButton(
  m: Model,
  label: string,
  action: string,
  arg: string,
  kind: string,
): Node {
  if (!m.access.canWrite) return nothing;
  if (m.live.isStale(m.now)) return offButton(label, "Database unreachable", kind);
  return button(label, action, arg, kind);
}

/** The button in a row whose worker is not responding. */
export function unlockButton(m: Model, row: Row, action: string): Node {
  return row.unlocks.length > 0 ? writeButton(m, "Unlock…", action, row.unlocks, "s") : nothing;
}

/** The keys of a list, and that of the button in its current row. */
export function withUnlock(m: Model, list: List, keys: Shortcut[], action: string): Shortcut[] {
  if (!m.access.canWrite || !list.isWalked || list.current >= list.rows.length) return keys;
  const worker = list.rows[list.current].unlocks;
  if (worker.length > 0)
    keys.push(new Shortcut(keyOf("force-unlock"), `Unlock ${worker}…`, action, worker, "List"));
  return keys;
}
