/** The panel with incidents about tasks that no live worker supports, and with the differences between live workers. */
import { link } from "../../controls/button";
import { panel } from "../../controls/panel";
import { WorkerDifference } from "../../generated/records";
import { box, el, leaf, Node, nothing, text } from "../../lib/node";
import { taskPath, workerPath } from "../../model/links";
import { Model } from "../../model/model";

export function differences(m: Model, list: WorkerDifference[]): Node {
  const lines: Node[] = [];
  const known = m.facts.incidents.incidents;
  for (let i = 0; i < known.length; i++) {
    if (known[i].kind !== "unsupported_task") continue;
    lines.push(el("p", [], [leaf("b", "", known[i].title), text(". " + known[i].sentence)]));
  }
  for (let i = 0; i < list.length; i++) {
    lines.push(el("p", [], [named(list[i]), text(" " + list[i].text)]));
  }
  if (lines.length === 0) return nothing;
  return panel("Differences between workers", "", [], [box("div", "pb pile", lines)]);
}

function named(one: WorkerDifference): Node {
  const name = leaf("b", "", one.name);
  if (one.kind === "workers") return name;
  return link(one.kind === "task" ? taskPath(one.name) : workerPath(one.name), "", [name]);
}
