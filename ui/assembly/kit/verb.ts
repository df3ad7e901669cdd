/** The verb that the server offers for a cause: a button that asks before it does anything. */
import { button, offButton } from "../controls/button";
import { Verb } from "../generated/records";
import { quote } from "../lib/json-writer";
import { leaf, Node, nothing } from "../lib/node";
import { Model } from "../model/model";

/** `kind` as for a button. While nothing can be reached it says so in place of the button. */
export function verbButton(m: Model, verb: Verb | null, kind: string): Node {
  if (verb === null || !m.access.canWrite) return nothing;
  if (m.live.isStale(m.now)) return leaf("span", "faint small", "needs the database");
  const arg = `{"action":${quote(verb.action)},"label":${quote(verb.label)},"post":{"path":${quote(verb.post.path)},"body":${verb.post.body}}}`;
  return button(verb.label, "ask.verb", arg, kind);
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
  if (m.live.isStale(m.now))
    return offButton(label, "Needs the database, which does not answer.", kind);
  return button(label, action, arg, kind);
}
