/** The whole page: the bar above, the page at hand, the dialog and the notices over it. */
import { button } from "../controls/controls";
import { clock, relative } from "../controls/when";
import { attr, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { Gate } from "../model/access";
import { Model } from "../model/model";
import { dialogView } from "./dialog";
import { noticesView } from "./notices";
import { gatePage } from "./sign-in";
import { topBar } from "./top-bar";

export function shell(m: Model): Node {
  const open = m.access.gate === Gate.Open;
  return el(
    "div",
    [cls("page"), attr("data-key", "app.key"), attr("data-keys", "/"), attr("data-everywhere", "")],
    [
      button("Skip to the page", "app.skip", "", "skip"),
      topBar(m),
      open ? outageBanner(m) : nothing,
      el("main", [attr("id", "main"), cls("main")], [open ? m.page.view(m) : gatePage(m)]),
      noticesView(m),
      dialogView(m),
    ],
  );
}

function outageBanner(m: Model): Node {
  const live = m.live;
  if (live.outage.length === 0) return nothing;
  const data = isNaN(live.freshAt)
    ? "There is no data yet."
    : `You see the data as of ${clock(live.freshAt)} (${relative(live.freshAt, m.now)}).`;
  return el(
    "div",
    [cls("banner"), attr("role", "alert")],
    [
      leaf("strong", "", live.outage.endsWith(".") ? live.outage : live.outage + "."),
      text(` ${data} `),
      text("The page goes on trying. "),
      live.outageCode === "schema_missing" && m.access.canWrite
        ? button("Make the schema…", "ask.migrate", "", "small")
        : nothing,
      button("Try now", "app.retry", "", "small"),
    ],
  );
}
