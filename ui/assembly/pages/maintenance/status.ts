/** The table on the page Maintenance. Each row has a name, and may have a number or size, a status and an action. */
import { badge } from "../../controls/button";
import { cell, row } from "../../controls/table";
import { lower } from "../../lib/letters";
import { attr, cls, el, leaf, Node, text } from "../../lib/node";

const COLUMNS: string[] = ["Name", "Now", "Status", "Action"];

export class Part {
  constructor(
    public title: string,
    public rows: Node[],
  ) {}
}

export function statusList(parts: Part[]): Node {
  const heads: Node[] = [];
  for (let i = 0; i < COLUMNS.length; i++) {
    const name = COLUMNS[i];
    heads.push(el("th", [attr("scope", "col"), cls("c-" + lower(name))], [text(name)]));
  }
  const bodies: Node[] = [el("thead", [], [el("tr", [], heads)])];
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i];
    if (part.rows.length === 0) continue;
    const title = [attr("scope", "rowgroup"), attr("colspan", "4")];
    const head = el("tr", [cls("part")], [el("th", title, [text(part.title)])]);
    bodies.push(el("tbody", [], [head].concat(part.rows)));
  }
  return el("table", [cls("t status-list"), attr("aria-label", "Status")], bodies);
}

/** One row. `lines`: the nodes below the name. */
export function statusRow(
  id: string,
  name: string,
  lines: Node[],
  now: Node,
  status: Node,
  act: Node,
): Node {
  return row(id, "", [
    cell("c-name", [leaf("b", "name", name)].concat(lines)),
    cell("c-now num", [now]),
    cell("c-status", [status]),
    cell("c-action vis", [act]),
  ]);
}

/** The status if nothing is to be done. */
export function fine(): Node {
  return badge("OK", "green");
}

/** A neutral status, such as *not built* or *external*: nothing is wrong. */
export function possible(words: string): Node {
  return badge(words, "");
}

/** The status of something that changes by itself, such as an index that is being built, or a standby. */
export function changing(words: string): Node {
  return badge(words, "blue");
}

/** The status if something should be done soon. */
export function due(words: string): Node {
  return badge(words, "amber");
}

/** The status of something that does not work. */
export function broken(words: string): Node {
  return badge(words, "red");
}
