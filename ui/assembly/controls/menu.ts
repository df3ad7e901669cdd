/** A button that opens choices below it. The host closes them on Escape, and on a click outside or on a choice. */
import { attr, box, cls, el, Node } from "../lib/node";

/**
 * `opener` is the button's content; `items` are buttons or links. `label` is the name of a button that is only an icon.
 * If the button has words, `label` is its description, so that voice control finds the button by its words.
 */
export function menu(label: string, opener: Node[], items: Node[], id: string = ""): Node {
  const isDrawing = opener.length === 1 && opener[0].tag === "svg";
  const named = isDrawing ? attr("aria-label", label) : attr("aria-description", label);
  const attrs = [cls("btn"), named, attr("title", label)];
  if (id.length > 0) attrs.push(attr("id", id));
  return el(
    "details",
    [cls("menu-of"), attr("data-menu", "")],
    [el("summary", attrs, opener), box("div", "menu", items)],
  );
}
