/** Parts of a page's layout. */
import { attr, box, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { commandLine } from "./button";
import { table } from "./table";

/** The head of a page: the title, and the elements `beside` the title. */
export function pageHead(title: string, beside: Node[]): Node {
  return headOf([heading([text(title)])], "", beside);
}

/** The head of a page with a sentence. */
export function pageHeadWith(title: string, sentence: string, acts: Node[]): Node {
  return headOf([heading([text(title)])], sentence, acts);
}

/** The head of a page. `before`: the title's row, with a heading(). */
export function headOf(before: Node[], sentence: string, acts: Node[]): Node {
  return box("div", "head1", [
    box("div", "title-row", before),
    sentence.length > 0 ? leaf("p", "cut", sentence) : nothing,
    box("div", "acts", acts),
  ]);
}

export function heading(children: Node[]): Node {
  return el("h1", [attr("id", "page-title"), attr("tabindex", "-1")], children);
}

/** Links to the pages above this page. */
export function crumbs(links: Node[]): Node {
  return el("nav", [cls("crumb"), attr("aria-label", "Above this page")], links);
}

/** A box with a title. `more`: the elements at the right of the title. */
export function panel(title: string, remark: string, more: Node[], body: Node[]): Node {
  const head = box("div", "ph", [
    leaf("h2", "", title),
    remark.length > 0 ? leaf("span", "faint small", remark) : nothing,
    box("span", "more row", more),
  ]);
  return box("section", "panel", [head].concat(body));
}

/** A box with a table; `nothing` if there are no rows. `name`: the table's class. */
export function tablePanel(
  title: string,
  remark: string,
  more: Node[],
  name: string,
  columns: string[],
  rows: Node[],
): Node {
  if (rows.length === 0) return nothing;
  return panel(title, remark, more, [table(name, title, columns, rows)]);
}

/** The box with a shell command. */
export function shellPanel(line: string): Node {
  return panel("In a shell", "", [], [box("div", "pb", [commandLine(line)])]);
}

/** A box without a visible title. */
export function plainPanel(label: string, body: Node[]): Node {
  return el("section", [cls("panel"), attr("aria-label", label)], body);
}

/** A list of names and values. `children`: pair()s. */
export function pairs(children: Node[]): Node {
  return box("dl", "kv", children);
}

export function pair(name: string, value: Node): Node {
  return box("div", "pair", [leaf("dt", "", name), el("dd", [], [value])]);
}

/** A large number, for figures(). `remark`: what the number means. */
export function figure(name: string, value: Node, remark: string): Node {
  return box("div", "", [
    leaf("div", "k", name),
    box("div", "v", [value]),
    leaf("div", "a", remark),
  ]);
}

export function figures(list: Node[]): Node {
  return box("div", "stats", list);
}

/** A step in a box of the class `steps`. `tone`: `done`, `wait` for a later step, or empty for the step to do now. */
export function step(tone: string, mark: Node, title: string, body: Node[]): Node {
  const children: Node[] = [leaf("h2", "", title)];
  return box("div", "step", [
    box("span", "no " + tone, [mark]),
    box("div", "pile tight", children.concat(body)),
  ]);
}
