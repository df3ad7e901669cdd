/**
 * Controls that select one of a few choices: tabs(), which are links, and segments(), a switch whose parts are buttons
 * or links.
 */
import { Attr, attr, box, cls, el, leaf, Node, nothing, text } from "../lib/node";

/** Returns a tab, which links to `path`. An empty `count` is not shown. `on`: whether it is the current tab. */
export function tab(path: string, words: string, count: string, before: Node, on: bool): Node {
  const attrs: Attr[] = [attr("href", "#" + path)];
  if (on) attrs.push(attr("aria-current", "page"));
  return el("a", attrs, [
    before,
    text(words),
    count.length > 0 ? leaf("span", "n", count) : nothing,
  ]);
}

export function tabs(label: string, list: Node[]): Node {
  return el("nav", [cls("tabs"), attr("aria-label", label)], list);
}

/** A part of a switch, as a button. `on`: whether it is the selected part. */
export function part(words: string, action: string, arg: string, on: bool): Node {
  return el(
    "button",
    [
      attr("type", "button"),
      attr("data-click", action),
      attr("data-arg", arg),
      attr("aria-pressed", on ? "true" : "false"),
    ],
    [text(words)],
  );
}

/** A part of a switch, as a link. `on`: whether it is the selected part. */
export function linkedPart(words: string, path: string, on: bool): Node {
  const attrs: Attr[] = [attr("href", "#" + path)];
  if (on) attrs.push(attr("aria-current", "true"));
  return el("a", attrs, [text(words)]);
}

export function segments(label: string, parts: Node[]): Node {
  return el("div", [cls("seg"), attr("role", "group"), attr("aria-label", label)], parts);
}

/** Several small elements in one line. */
export function row(children: Node[]): Node {
  return box("span", "row", children);
}
