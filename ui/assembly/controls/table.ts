/** A plain table: a head of column names, and rows that are identified by a key. */
import { attr, box, cls, el, key, leaf, Node, nothing, text } from "../lib/node";

/**
 * Returns a table. Each column is `class=Title`; the class is that of the head cell. `name`: the class of the table.
 */
export function table(name: string, label: string, columns: string[], rows: Node[]): Node {
  const heads: Node[] = [];
  for (let i = 0; i < columns.length; i++) {
    const equals = columns[i].indexOf("=");
    const attrs = [attr("scope", "col"), cls(columns[i].substring(0, equals))];
    heads.push(el("th", attrs, [text(columns[i].substring(equals + 1))]));
  }
  return box("div", "panel table-frame", [
    el(
      "table",
      [cls("t " + name), attr("aria-label", label)],
      [el("thead", [], [el("tr", [], heads)]), el("tbody", [], rows)],
    ),
  ]);
}

export function row(id: string, name: string, cells: Node[]): Node {
  return el("tr", [key(id), cls(name)], cells);
}

export function cell(name: string, children: Node[]): Node {
  return box("td", name, children);
}

/** A further line of a cell; nothing if `words` is empty. */
export function sub(words: string): Node {
  return words.length > 0 ? leaf("span", "sub", words) : nothing;
}
