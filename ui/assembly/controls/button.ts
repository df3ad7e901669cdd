/**
 * Buttons, links, checkboxes, badges and command lines. No button has the attribute `disabled`, so a button that is off
 * can have the focus.
 */
import { Attr, attr, box, cls, el, flag, leaf, multiline, Node, text } from "../lib/node";
import { visible } from "../lib/visible";
import { COPY, icon } from "./icon";

/**
 * A button that dispatches an action. `kind`: classes, separated by spaces: `p` (the primary action of a view),
 * `danger` (only inside a dialog), `q` (quiet), `s` (small). If the button opens a dialog, the label ends in "…".
 */
export function button(label: string, action: string, arg: string, kind: string): Node {
  return ownButton("btn " + kind, action, arg, [], [text(label)]);
}

/** A button with any content and further attributes. `name`: its classes. */
export function ownButton(
  name: string,
  action: string,
  arg: string,
  more: Attr[],
  children: Node[],
): Node {
  const attrs = [
    attr("type", "button"),
    cls(name),
    attr("data-click", action),
    attr("data-arg", arg),
  ];
  return el("button", attrs.concat(more), children);
}

/** Like button(), with an icon before the words. */
export function drawnButton(drawing: string, label: string, action: string, kind: string): Node {
  return ownButton("btn " + kind, action, "", [], [icon(drawing), text(label)]);
}

/** Like button(), with its keyboard shortcut after the words. */
export function keyedButton(
  label: string,
  key: string,
  action: string,
  arg: string,
  kind: string,
): Node {
  return ownButton("btn " + kind, action, arg, [], [text(label), keyCap(key)]);
}

/** A button that is off, because the data are stale. */
export function offButton(label: string, kind: string): Node {
  const reason = "Offline";
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

/** A button with only an icon. */
export function iconButton(drawing: string, label: string, action: string, arg: string): Node {
  const named = [attr("aria-label", label), attr("title", label)];
  return ownButton("btn icon q", action, arg, named, [icon(drawing)]);
}

export function keyCap(key: string): Node {
  return el("span", [cls("kbd"), attr("aria-hidden", "true")], [text(key)]);
}

/** A checkbox. `reachable`: whether the tab key reaches the checkbox; false in the rows of a list. */
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

/** A button that copies a text. */
export function copyButton(what: string, value: string): Node {
  const label = "Copy " + what;
  const named = [attr("aria-label", label), attr("title", label)];
  return ownButton("copy", "app.copy", value, named, [icon(COPY)]);
}

/** A button that copies a name, with codes for hidden characters: in a shell, a pasted line break runs a command. */
export function copyName(what: string, name: string): Node {
  return copyButton(what, visible(name, false));
}

export function link(path: string, className: string, children: Node[]): Node {
  return el("a", [attr("href", "#" + path), cls(className)], children);
}

/** A word in a capsule. `tone`: red, amber, green, blue or empty. */
export function badge(word: string, tone: string): Node {
  return leaf("span", "badge " + tone, word);
}

/** A command line that can be copied. */
export function commandLine(line: string): Node {
  return box("div", "cli", [
    box("code", "", [leaf("span", "p", "$ "), multiline(line)]),
    copyButton("the command", line),
  ]);
}
