/** Nodes that are shown instead of data: while the data load, if there are no data, or after an error. */
import { attr, box, cls, el, leaf, Node, text } from "../lib/node";
import { button, link } from "./button";
import { ALERT, icon, NONE } from "./icon";

/** A box for a view without data, with a link to a page that helps. */
export function empty(title: string, hint: string, path: string, words: string): Node {
  return emptyWith(title, hint, [link(path, "btn", [text(words)])]);
}

/** A box for a view without data, with buttons. */
export function emptyWith(title: string, hint: string, buttons: Node[]): Node {
  return box("div", "empty", [
    icon(NONE),
    leaf("h2", "", title),
    leaf("p", "", hint),
    box("div", "row", buttons),
  ]);
}

/** Grey lines in the shape of the data, shown only after 200 ms (kit/server-data.ts). */
export function skeleton(lines: i32): Node {
  const rows: Node[] = [];
  for (let i = 0; i < lines; i++) {
    rows.push(box("div", "sk-row", [leaf("span", "sk a", ""), leaf("span", "sk b", "")]));
  }
  return el(
    "div",
    [cls("skeleton loading"), attr("role", "status"), attr("aria-label", "Loading")],
    rows,
  );
}

/** A box with the reason why there are no data, and a button that requests them again. */
export function problem(message: string): Node {
  return el(
    "div",
    [cls("note bad problem"), attr("role", "alert")],
    [icon(ALERT), leaf("span", "", message), button("Try again", "app.retry", "", "s")],
  );
}

/** A remark in a frame. `tone` sets the colour: `warn`, `bad`, `ok`, `info` or empty. */
export function note(tone: string, children: Node[]): Node {
  return box("div", "note " + tone, children);
}

export function dash(): Node {
  return el("span", [cls("none")], [text("–")]);
}
