/** Buttons, links and the small pieces that every page is made of. */
import { attr, cls, el, flag, leaf, Node, text } from "../lib/node";
import { COPY, icon } from "./icon";

/** A button that dispatches; `kind` is `primary`, `danger`, `quiet` or nothing. */
export function button(label: string, action: string, arg: string, kind: string): Node {
  return el(
    "button",
    [
      attr("type", "button"),
      cls("button " + kind),
      attr("data-click", action),
      attr("data-arg", arg),
    ],
    [text(label)],
  );
}

export function disabledButton(label: string, kind: string): Node {
  return el(
    "button",
    [attr("type", "button"), cls("button " + kind), flag("disabled", true)],
    [text(label)],
  );
}

/** A drawing with its name for those who can't see it. */
export function iconButton(drawing: string, label: string, action: string, arg: string): Node {
  return el(
    "button",
    [
      attr("type", "button"),
      cls("icon-button"),
      attr("data-click", action),
      attr("data-arg", arg),
      attr("aria-label", label),
      attr("title", label),
    ],
    [icon(drawing)],
  );
}

export function check(label: string, action: string, arg: string, on: bool): Node {
  return el(
    "input",
    [
      attr("type", "checkbox"),
      attr("aria-label", label),
      attr("data-click", action),
      attr("data-arg", arg),
      flag("checked", on),
    ],
    [],
  );
}

/** `reachable` is false inside a grid, whose rows take the tab key themselves. */
export function copyButton(what: string, value: string, reachable: bool): Node {
  return el(
    "button",
    [
      attr("type", "button"),
      cls("icon-button copy"),
      attr("data-click", "app.copy"),
      attr("data-arg", value),
      attr("aria-label", "Copy " + what),
      attr("title", "Copy " + what),
      attr("tabindex", reachable ? "0" : "-1"),
    ],
    [icon(COPY)],
  );
}

export function link(path: string, className: string, children: Node[]): Node {
  return el("a", [attr("href", "#" + path), cls(className)], children);
}

/** A state by its word; the colour only helps. */
export function stateBadge(state: string): Node {
  return leaf("span", "state " + state, state);
}

/** The first line of a text that may be long. */
export function firstLine(value: string): string {
  const trimmed = value.trimStart();
  const end = trimmed.indexOf("\n");
  const line = end < 0 ? trimmed : trimmed.substring(0, end);
  return line.length > 300 ? line.substring(0, 300) + "…" : line;
}

/** What stands where there is nothing to show. */
export function empty(title: string, hint: string): Node {
  return el(
    "div",
    [cls("empty")],
    [leaf("p", "empty-title", title), leaf("p", "empty-hint", hint)],
  );
}

export function loading(): Node {
  return leaf("p", "loading", "Loading…");
}

export function problem(message: string): Node {
  return el(
    "div",
    [cls("problem"), attr("role", "alert")],
    [text(message), text(" "), button("Try again", "app.retry", "", "small")],
  );
}
