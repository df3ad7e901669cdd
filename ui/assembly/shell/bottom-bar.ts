/** The navigation on a phone: a bar with the most important pages, and a sheet with the others, the theme and so on. */
import { ownButton } from "../controls/button";
import { DOTS, icon } from "../controls/icon";
import { Attr, attr, box, cls, el, leaf, Node, nothing, text } from "../lib/node";
import { Model, Page } from "../model/model";
import { freshness } from "./freshness";
import { database, otherPages, themes, zoneNamed } from "./side";

export function bottomBar(m: Model): Node {
  const list: Node[] = [];
  for (let i = 0; i < m.pages.length; i++) if (m.pages[i].inBar) list.push(entry(m, m.pages[i]));
  const isMore = m.layer === "more";
  list.push(
    ownButton(
      "",
      "app.layer",
      "more",
      [attr("aria-expanded", isMore ? "true" : "false")],
      [icon(DOTS), text("More")],
    ),
  );
  return box("div", "phone-only", [
    isMore
      ? el(
          "nav",
          [cls("more-sheet"), attr("aria-label", "More pages")],
          [box("div", "navs", otherPages(m)), themes(m), database(m), zoneNamed(m), freshness(m)],
        )
      : nothing,
    el("nav", [cls("bottom"), attr("aria-label", "Main, phone")], list),
  ]);
}

function entry(m: Model, page: Page): Node {
  const attrs: Attr[] = [
    attr("href", "#" + page.path),
    cls(page.mark(m).tone === "red" ? "alarm" : ""),
  ];
  if (m.page.under === page.name) attrs.push(attr("aria-current", "page"));
  return el("a", attrs, [icon(page.drawing), leaf("span", "", page.label)]);
}
