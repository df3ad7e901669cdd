/** Draws everything: the navigation, the banner, the current page or the sign-in, and the layers over the page. */
import { button } from "../controls/button";
import { attr, box, cls, el, Node, nothing } from "../lib/node";
import { Gate } from "../model/access";
import { Model } from "../model/model";
import { progressLink } from "../operations/progress";
import { banner } from "./banner";
import { bottomBar } from "./bottom-bar";
import { dialogView } from "./dialog";
import { keySheet } from "./key-sheet";
import { palette } from "./palette";
import { side, topBar } from "./side";
import { gatePage } from "./sign-in";
import { toast } from "./toast";

/** Returns the root node. `strokes`: the result of strokes() in app/keys.ts. */
export function shell(m: Model, strokes: string): Node {
  const open = m.access.gate === Gate.Open;
  return el(
    "div",
    [
      cls(open ? "app" : "app gated"),
      attr("data-key", "app.key"),
      attr("data-keys", open ? strokes : ""),
      attr("data-everywhere", ""),
    ],
    [
      button("Skip to the page", "app.skip", "", "skip"),
      open ? side(m) : nothing,
      box("div", "over", [
        open ? topBar(m) : nothing,
        open ? progressLink(m, "on-phone") : nothing,
        open ? banner(m) : nothing,
        el(
          "main",
          [attr("id", "main"), cls(m.page.wide ? "main wide" : "main")],
          [box("div", "in", [open ? m.page.view(m) : gatePage(m)])],
        ),
      ]),
      open ? bottomBar(m) : nothing,
      toast(m),
      open ? dialogView(m) : nothing,
      open && m.layer === "keys" ? keySheet(m) : nothing,
      open && m.layer === "palette" ? palette(m) : nothing,
    ],
  );
}
