/** The bar above every page: where one is, how fresh it is, and the few settings. */
import { button } from "../controls/controls";
import { icon, MOON, SUN, SYSTEM } from "../controls/icon";
import { absolute } from "../controls/when";
import { Session } from "../generated/records";
import { Attr, attr, box, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { Gate } from "../model/access";
import { Stream } from "../model/live";
import { Model, Page } from "../model/model";

export function topBar(m: Model): Node {
  const open = m.access.gate === Gate.Open;
  const session = m.access.session;
  const label = session.label;
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
      open && label !== null
        ? el("span", [cls("label"), attr("title", "Environment")], [text(label)])
        : nothing,
      open && session.readOnly ? leaf("span", "read-only", readOnlyWord(session)) : nothing,
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

function readOnlyWord(session: Session): string {
  return session.readOnlyServer ? "read-only: a standby takes no writes" : "read-only";
}

function pages(m: Model): Node {
  const tabs: Node[] = [];
  for (let i = 0; i < m.pages.length; i++) {
    const page = m.pages[i];
    if (page.label.length === 0) continue;
    tabs.push(page.writes && !m.access.canWrite ? nothing : tab(m, page));
  }
  return el("nav", [cls("pages"), attr("aria-label", "Pages")], tabs);
}

function tab(m: Model, page: Page): Node {
  const attrs: Attr[] = [attr("href", "#" + page.path), cls("page-link")];
  if (m.page.under === page.name) attrs.push(attr("aria-current", "page"));
  return el("a", attrs, [text(page.label), page.mark(m)]);
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
