/** What every page begins with. */
import { attr, box, el, Node, text } from "../lib/node";

/** The heading that takes the focus when the page turns, and what stands beside it. */
export function pageHead(title: string, beside: Node[]): Node {
  return box("div", "page-head", [
    el("h1", [attr("id", "page-title"), attr("tabindex", "-1")], [text(title)]),
    box("div", "beside", beside),
  ]);
}
