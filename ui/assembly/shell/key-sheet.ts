/** The sheet that `?` opens. It lists the shortcuts of the current page and those of all pages. */

import { iconButton, keyCap } from "../controls/button";
import { CLOSE } from "../controls/icon";
import { isLetter, upper } from "../lib/letters";
import { attr, box, cls, el, leaf, Node, text } from "../lib/node";
import { Model } from "../model/model";
import { Shortcut } from "../model/shortcut";

export function keySheet(m: Model): Node {
  const list = m.shortcuts;
  const groups: string[] = [];
  for (let i = 0; i < list.length; i++) {
    const shown = list[i].keys.length > 0;
    if (shown && !groups.includes(list[i].group)) groups.push(list[i].group);
  }
  const columns: Node[] = [];
  for (let i = 0; i < groups.length; i++) columns.push(column(groups[i], list));
  return el(
    "dialog",
    [
      cls("dialog wide"),
      attr("data-modal", "app.layer"),
      attr("aria-labelledby", "keys-title"),
      attr("key", "keys"),
    ],
    [
      box("div", "dh", [
        el("h2", [attr("id", "keys-title")], [text("Keyboard shortcuts")]),
        box("span", "push", [iconButton(CLOSE, "Close", "app.layer", "keys")]),
      ]),
      leaf(
        "p",
        "sheet-note",
        "While you type, most shortcuts are off. All changes ask for confirmation.",
      ),
      box("div", "sheet", columns),
    ],
  );
}

function column(group: string, list: Shortcut[]): Node {
  const lines: Node[] = [];
  for (let i = 0; i < list.length; i++) {
    if (list[i].group !== group || list[i].keys.length === 0) continue;
    lines.push(box("li", "", [leaf("span", "", list[i].label), caps(list[i].keys)]));
  }
  return box("section", "", [leaf("h3", "", group), box("ul", "", lines)]);
}

export function caps(keys: string): Node {
  const children: Node[] = [];
  const ways = keys.split(",");
  for (let i = 0; i < ways.length; i++) {
    const strokes = ways[i].split(" ");
    for (let s = 0; s < strokes.length; s++) children.push(keyCap(nameOf(strokes[s])));
  }
  return el("span", [cls("caps"), attr("role", "text"), attr("aria-label", keys)], children);
}

/** Returns a keystroke as it is shown: `Ctrl K`, `↓` or `⇧ X`. */
function nameOf(stroke: string): string {
  if (stroke.startsWith("Mod+")) return "Ctrl " + nameOf(stroke.substring(4));
  if (stroke.startsWith("Shift+")) return "⇧ " + nameOf(stroke.substring(6));
  if (stroke === "ArrowDown") return "↓";
  if (stroke === "ArrowUp") return "↑";
  if (stroke === "ArrowLeft") return "←";
  if (stroke === "ArrowRight") return "→";
  if (stroke === "Escape") return "Esc";
  if (stroke.length !== 1 || !isLetter(stroke.charCodeAt(0))) return stroke;
  return stroke === upper(stroke) ? "⇧ " + stroke : upper(stroke);
}
