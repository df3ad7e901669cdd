/** The whole page: the bar above, the page at hand, the dialog and the notices over it. */
import { Gate } from "../app/access";
import { Model } from "../app/model";
import { Page } from "../app/route";
import { attr, box, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { button, empty, link } from "./controls";
import { dialogView } from "./dialog";
import { jobPage } from "./job";
import { jobsPage } from "./jobs";
import { maintenancePage } from "./maintenance";
import { noticesView } from "./notices";
import { overviewPage } from "./overview";
import { pageHead } from "./page-head";
import { queuesPage } from "./queues";
import { gatePage } from "./sign-in";
import { topBar } from "./top-bar";
import { clock, relative } from "./when";
import { workersPage } from "./workers";

export function page(m: Model): Node {
  const open = m.access.gate === Gate.Open;
  return el(
    "div",
    [cls("page"), attr("data-key", "app.key"), attr("data-keys", "/"), attr("data-everywhere", "")],
    [
      button("Skip to the page", "app.skip", "", "skip"),
      topBar(m),
      open ? outageBanner(m) : nothing,
      el("main", [attr("id", "main"), cls("main")], [open ? current(m) : gatePage(m)]),
      noticesView(m),
      dialogView(m),
    ],
  );
}

function current(m: Model): Node {
  switch (m.route.page) {
    case Page.Overview:
      return overviewPage(m);
    case Page.Jobs:
      return jobsPage(m);
    case Page.Job:
      return jobPage(m);
    case Page.Queues:
      return queuesPage(m);
    case Page.Workers:
      return workersPage(m);
    case Page.Maintenance:
      return maintenancePage(m);
    default:
      return box("div", "unknown", [
        pageHead("Not found", []),
        empty("There is no such page", "The address may be mistyped."),
        link("/", "button", [text("Go to the overview")]),
      ]);
  }
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
      button("Try now", "app.retry", "", "small"),
    ],
  );
}
