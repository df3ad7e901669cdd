/** The bar above every page: where one is, how fresh it is, and the few settings. */
import { Gate } from "../app/access";
import { Stream } from "../app/live";
import { Model } from "../app/model";
import { Page } from "../app/route";
import { Attr, attr, box, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { grouped } from "../lib/number";
import { button } from "./controls";
import { icon, MOON, SUN, SYSTEM } from "./icon";
import { absolute } from "./when";

export function topBar(m: Model): Node {
  const open = m.access.gate === Gate.Open;
  const session = m.access.session;
  return box("header", "top-bar", [
    box("div", "brand", [
      el(
        "a",
        [attr("href", "#/"), cls("brand-name"), attr("title", `worker ${session.version}`)],
        [text("worker")],
      ),
      open && session.schema.length > 0
        ? el("span", [cls("schema"), attr("title", "Database schema")], [text(session.schema)])
        : nothing,
      open && session.readOnly ? leaf("span", "read-only", "read-only") : nothing,
    ]),
    open ? pages(m) : nothing,
    box("div", "bar-end", [
      open ? liveness(m) : nothing,
      themes(m),
      open && m.access.token.length > 0
        ? button("Sign out", "access.sign-out", "", "quiet small")
        : nothing,
    ]),
  ]);
}

function pages(m: Model): Node {
  const failed = m.overview.stats.failed;
  return el(
    "nav",
    [cls("pages"), attr("aria-label", "Pages")],
    [
      tab(m, Page.Overview, "/", "Overview", nothing),
      tab(
        m,
        Page.Jobs,
        "/jobs",
        "Jobs",
        failed > 0
          ? el(
              "span",
              [cls("count"), attr("title", `${grouped(failed)} failed`)],
              [text(failed > 999 ? "999+" : failed.toString())],
            )
          : nothing,
      ),
      tab(m, Page.Queues, "/queues", "Queues", nothing),
      tab(m, Page.Workers, "/workers", "Workers", nothing),
      m.access.canWrite
        ? tab(m, Page.Maintenance, "/maintenance", "Maintenance", nothing)
        : nothing,
    ],
  );
}

function tab(m: Model, page: Page, path: string, label: string, mark: Node): Node {
  const attrs: Attr[] = [attr("href", "#" + path), cls("page-link")];
  const here = m.route.page === page || (page === Page.Jobs && m.route.page === Page.Job);
  if (here) attrs.push(attr("aria-current", "page"));
  return el("a", attrs, [text(label), mark]);
}

function liveness(m: Model): Node {
  const live = m.live;
  let word = "Live";
  let tone = "on";
  if (live.outage.length > 0) {
    word = "Offline";
    tone = "off";
  } else if (live.stream !== Stream.Open) {
    word = isNaN(live.freshAt) ? "Connecting" : "Polling";
    tone = "slow";
  }
  const fresh = isNaN(live.freshAt) ? "no data yet" : "data as of " + absolute(live.freshAt);
  return el("span", [cls("live " + tone), attr("title", fresh)], [text(word)]);
}

function themes(m: Model): Node {
  return el(
    "div",
    [cls("themes"), attr("role", "group"), attr("aria-label", "Theme")],
    [
      theme(m, "system", "System theme", SYSTEM),
      theme(m, "light", "Light theme", SUN),
      theme(m, "dark", "Dark theme", MOON),
    ],
  );
}

function theme(m: Model, name: string, label: string, drawing: string): Node {
  return el(
    "button",
    [
      attr("type", "button"),
      cls("icon-button"),
      attr("data-click", "app.theme"),
      attr("data-arg", name),
      attr("aria-pressed", m.theme === name ? "true" : "false"),
      attr("aria-label", label),
      attr("title", label),
    ],
    [icon(drawing)],
  );
}
