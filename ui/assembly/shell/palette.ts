/** The view of the palette, the dialog for searching and for running actions: its text field and its entries. */

import { icon, SEARCH } from "../controls/icon";
import { Attr, attr, box, cls, el, flag, key, leaf, Node, nothing, text } from "../lib/node";
import { Model } from "../model/model";
import { Shortcut } from "../model/shortcut";
import { caps } from "./key-sheet";

/** Draws the palette. app/palette.ts handles the keys that are pressed in the text field. */
export function palette(m: Model): Node {
  const found = m.palette.found;
  const options: Node[] = [];
  for (let i = 0; i < found.length; i++) {
    if (i === 0 || found[i].group !== found[i - 1].group) {
      options.push(
        el(
          "div",
          [cls("mhead"), key("h" + found[i].group), attr("role", "presentation")],
          [text(found[i].group)],
        ),
      );
    }
    options.push(option(found[i], i, i === m.palette.current));
  }
  return el(
    "dialog",
    [
      cls("dialog palette"),
      attr("data-modal", "app.layer"),
      attr("aria-label", "Search or run an action"),
      key("palette"),
    ],
    [
      box("div", "pin", [
        icon(SEARCH),
        field(m),
        el(
          "button",
          [
            cls("kbd"),
            attr("type", "button"),
            attr("data-click", "app.layer"),
            attr("aria-label", "Close: Esc"),
          ],
          [text("Esc")],
        ),
      ]),
      el(
        "div",
        [
          cls("options"),
          attr("id", "palette-list"),
          attr("role", "listbox"),
          attr("aria-label", "Results"),
        ],
        options,
      ),
      found.length === 0 ? leaf("p", "hint none-found", "No results") : nothing,
      box("div", "mfoot", [
        leaf("span", "", "↑ ↓ select"),
        leaf("span", "", "↵ open"),
        leaf("span", "", "type a job id to open it"),
        leaf("span", "push", "> actions"),
      ]),
    ],
  );
}

function field(m: Model): Node {
  const attrs: Attr[] = [
    attr("id", "palette-field"),
    attr("type", "text"),
    attr("role", "combobox"),
    attr("aria-label", "Search or run an action"),
    attr("aria-expanded", "true"),
    attr("aria-controls", "palette-list"),
    attr("aria-activedescendant", "palette-" + m.palette.current.toString()),
    attr("autocomplete", "off"),
    flag("spellcheck", false),
    flag("autofocus", true),
    attr("data-input", "app.palette"),
    attr("data-key", "app.palette-key"),
    attr("data-keys", "ArrowDown ArrowUp Enter Escape"),
    attr("value", m.palette.text),
  ];
  return el("input", attrs, []);
}

function option(shortcut: Shortcut, index: i32, on: bool): Node {
  return el(
    "div",
    [
      key("o" + index.toString()),
      attr("id", "palette-" + index.toString()),
      cls(on ? "opt on" : "opt"),
      attr("role", "option"),
      attr("aria-selected", on ? "true" : "false"),
      attr("data-click", "app.palette-do"),
      attr("data-arg", index.toString()),
    ],
    [
      icon(shortcut.drawing),
      leaf("span", "cut", shortcut.label),
      shortcut.keys.length > 0 ? caps(shortcut.keys) : leaf("span", "n", shortcut.note),
    ],
  );
}
