/** Buttons, links and boxes. Nothing is ever `disabled`: what is off can be focused, and says why. */
import { Attr, attr, box, cls, el, flag, leaf, multiline, Node, text } from "../lib/node";
import { COPY, icon } from "./icon";

/**
 * A button that dispatches. `kind`: `p` the one likeliest right thing of a view, `danger` only inside a
 * dialog, `q` quiet, `s` small, several with spaces between. A label ends in "…" if a dialog follows.
 */
export function button(label: string, action: string, arg: string, kind: string): Node {
  return el("button", does(action, arg, kind), [text(label)]);
}

/** The same with a drawing before the words. */
export function drawnButton(
  drawing: string,
  label: string,
  action: string,
  arg: string,
  kind: string,
): Node {
  return el("button", does(action, arg, kind), [icon(drawing), text(label)]);
}

/** The same with its key behind the words. */
export function keyedButton(
  label: string,
  key: string,
  action: string,
  arg: string,
  kind: string,
): Node {
  return el("button", does(action, arg, kind), [text(label), keyCap(key)]);
}

/** A button that is off; `reason` is told at hover and to those who hear the page. */
export function offButton(label: string, reason: string, kind: string): Node {
  return el(
    "button",
    [
      attr("type", "button"),
      cls("btn " + kind),
      attr("aria-disabled", "true"),
      attr("title", reason),
      attr("aria-description", reason),
    ],
    [text(label)],
  );
}

/** A drawing with its name for those who can't see it. */
export function iconButton(drawing: string, label: string, action: string, arg: string): Node {
  const attrs = does(action, arg, "icon q");
  attrs.push(attr("aria-label", label));
  attrs.push(attr("title", label));
  return el("button", attrs, [icon(drawing)]);
}

export function keyCap(key: string): Node {
  return el("span", [cls("kbd"), attr("aria-hidden", "true")], [text(key)]);
}

/** `reachable` is false inside a list, whose rows take the tab key themselves. */
export function check(
  label: string,
  action: string,
  arg: string,
  on: bool,
  reachable: bool = true,
): Node {
  return el(
    "input",
    [
      attr("type", "checkbox"),
      cls("cb"),
      attr("aria-label", label),
      attr("data-click", action),
      attr("data-arg", arg),
      attr("tabindex", reachable ? "0" : "-1"),
      flag("checked", on),
    ],
    [],
  );
}

/** `reachable` is false inside a list, whose rows take the tab key themselves. */
export function copyButton(what: string, value: string, reachable: bool): Node {
  return el(
    "button",
    [
      attr("type", "button"),
      cls("copy"),
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

/** A word in a capsule; `tone` is red, amber, green, blue or nothing. */
export function badge(word: string, tone: string): Node {
  return leaf("span", "badge " + tone, word);
}

/** A command line that can be copied. */
export function commandLine(line: string): Node {
  return box("div", "cli", [
    box("code", "", [leaf("span", "p", "$ "), multiline(line)]),
    copyButton("the command", line, true),
  ]);
}

function does(action: string, arg: string, kind: string): Attr[] {
  return [
    attr("type", "button"),
    cls("btn " + kind),
    attr("data-click", action),
    attr("data-arg", arg),
  ];
}
