/** A button that opens a few choices below it; the host closes it at Escape and at a click elsewhere. */
import { attr, box, cls, el, Node } from "../lib/node";

/** `opener` is what stands on the button; `items` are buttons or links. */
export function menu(label: string, opener: Node[], items: Node[]): Node {
  return el(
    "details",
    [cls("menu-of"), attr("data-menu", "")],
    [el("summary", [cls("btn"), attr("aria-label", label)], opener), box("div", "menu", items)],
  );
}
