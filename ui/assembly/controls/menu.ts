/** A button that opens a few choices below it; the host closes it at Escape and at a click elsewhere. */
import { attr, box, cls, el, Node } from "../lib/node";

/**
 * `opener` is what stands on the button; `items` are buttons or links. The label is the name of a drawing
 * alone; beside words it describes them, since what one sees is what one says.
 */
export function menu(label: string, opener: Node[], items: Node[]): Node {
  const isDrawing = opener.length === 1 && opener[0].tag === "svg";
  const named = isDrawing ? attr("aria-label", label) : attr("aria-description", label);
  return el(
    "details",
    [cls("menu-of"), attr("data-menu", "")],
    [el("summary", [cls("btn"), named, attr("title", label)], opener), box("div", "menu", items)],
  );
}
