/** Draws the navigation at the side of the page, and the bar at the top of a phone. */
import { zone } from "../controls/age";
import { button, iconButton, keyCap, ownButton } from "../controls/button";
import { FILTER, icon, MOON, SEARCH, SUN, SYSTEM, USER } from "../controls/icon";
import { menu } from "../controls/menu";
import { middle } from "../controls/middle";
import { Session } from "../generated/records";
import { Attr, attr, box, cls, el, flag, leaf, Node, nothing, text } from "../lib/node";
import { Mark, Model, Page } from "../model/model";
import { progressLink } from "../operations/progress";
import { freshness } from "./freshness";

export function side(m: Model): Node {
  return el(
    "nav",
    [cls("side"), attr("aria-label", "Main")],
    [
      box("div", "brand", [logo(), leaf("span", "", "worker"), environment(m)]),
      database(m),
      find(),
      el(
        "div",
        [cls("navs"), attr("data-key", "app.nav"), attr("data-keys", "ArrowUp ArrowDown Home End")],
        pages(m).concat([savedViews(m)]),
      ),
      box("div", "end", [progressLink(m, ""), zoneNamed(m), freshness(m), themes(m), account(m)]),
    ],
  );
}

/** The bar at the top, only on phones. */
export function topBar(m: Model): Node {
  return box("header", "topbar", [
    logo(),
    leaf("span", "", "worker"),
    environment(m),
    freshness(m),
    iconButton(SEARCH, "Search or run an action", "app.layer", "palette"),
  ]);
}

/** The entries of the pages that are not in the bar at the bottom of a phone. */
export function otherPages(m: Model): Node[] {
  const list: Node[] = [];
  for (let i = 0; i < m.entries.length; i++)
    if (!m.entries[i].inBar) list.push(entry(m, m.entries[i], ""));
  return list;
}

/** The tab key reaches only one entry, and the arrow keys move between the entries. */
function pages(m: Model): Node[] {
  const list: Node[] = [];
  const entries = m.entries;
  let stop = entries[0].name;
  for (let i = 0; i < entries.length; i++)
    if (entries[i].name === m.page.under) stop = m.page.under;
  for (let i = 0; i < entries.length; i++) list.push(entry(m, entries[i], stop));
  return list;
}

/** `stop`: the page whose entry the tab key reaches; empty: the tab key reaches every entry. */
function entry(m: Model, page: Page, stop: string): Node {
  const mark: Mark = page.mark(m);
  const attrs: Attr[] = [
    attr("href", "#" + page.path),
    cls(mark.tone === "red" ? "nav alarm" : "nav"),
    attr("title", page.label),
  ];
  if (m.page.under === page.name) attrs.push(attr("aria-current", "page"));
  if (stop.length > 0) {
    attrs.push(attr("id", "nav-" + page.name));
    attrs.push(attr("data-arg", page.name));
    attrs.push(attr("tabindex", page.name === stop ? "0" : "-1"));
  }
  return el("a", attrs, [
    icon(page.drawing),
    leaf("span", "nav-name", page.label),
    mark.text.length > 0 ? leaf("span", "n " + mark.tone, mark.text) : nothing,
  ]);
}

/** Links to the last few saved views. The palette finds all saved views. */
function savedViews(m: Model): Node {
  const views = m.views.own;
  if (views.length === 0) return nothing;
  const links: Node[] = [leaf("p", "head", "Saved views")];
  for (let i = m.views.firstBeside; i < views.length; i++) {
    const stop = `view-${i}`;
    links.push(
      el(
        "a",
        [
          attr("href", "#" + views[i].path),
          cls("nav"),
          attr("title", views[i].name),
          attr("id", "nav-" + stop),
          attr("data-arg", stop),
          attr("tabindex", "-1"),
        ],
        [icon(FILTER), leaf("span", "cut", views[i].name)],
      ),
    );
  }
  return box("div", "views", links);
}

function find(): Node {
  return ownButton(
    "find",
    "app.layer",
    "palette",
    [attr("title", "Search or run an action")],
    [icon(SEARCH), leaf("span", "", "Search…"), keyCap("Ctrl K")],
  );
}

function environment(m: Model): Node {
  const session = m.access.session;
  const label = session.label;
  if (label === null) {
    if (session.schema === "worker") return nothing;
    return el("span", [cls("env plain"), attr("title", "Schema")], [text(session.schema)]);
  }
  return environmentLabel(label, `Environment; schema ${session.schema}`);
}

/** The host and the name of the database, so that schemas of the same name in different databases are not confused. */
export function database(m: Model): Node {
  const place = m.access.session.database;
  if (place === null) return nothing;
  const title = attr("title", `Database ${place}`);
  return el("p", [cls("at-database mid"), title], middle(leaf("span", "sr", "Database "), place));
}

/** The label of an environment. Its colour is striking, except for `local`, `demo` and labels that begin with `dev`. */
export function environmentLabel(label: string, title: string): Node {
  const calm = label === "local" || label === "demo" || label.startsWith("dev");
  return el("span", [cls(calm ? "env calm" : "env"), attr("title", title)], [text(label)]);
}

/** The time zone of the times on the page. */
export function zoneNamed(m: Model): Node {
  return box("p", "zone", [leaf("span", "", "Times in"), text("UTC " + zone(m.now))]);
}

function account(m: Model): Node {
  const session: Session = m.access.session;
  const user = session.auth.username;
  const name = user === null ? "" : user;
  const role = session.readOnly ? readOnlyWord(session) : "";
  const both = name.length > 0 && role.length > 0 ? `${name} · ${role}` : name + role;
  return box("div", "account", [
    both.length > 0 ? icon(USER) : nothing,
    both.length > 0
      ? el(
          "span",
          [cls(session.readOnly ? "read-only cut" : "cut"), attr("title", both)],
          [text(both)],
        )
      : nothing,
    m.access.token.length > 0 ? button("Sign out", "access.sign-out", "", "q s") : nothing,
  ]);
}

function readOnlyWord(session: Session): string {
  return session.readOnlyServer ? "read-only: PostgreSQL" : "read-only";
}

/** The menu of themes, and the button that shows the keyboard shortcuts. */
export function themes(m: Model): Node {
  return el(
    "div",
    [cls("themes"), attr("role", "group"), attr("aria-label", "Theme and keys")],
    [
      menu(
        "Theme",
        [icon(m.theme === "dark" ? MOON : m.theme === "light" ? SUN : SYSTEM)],
        [
          theme(m, "system", "System theme", SYSTEM),
          theme(m, "light", "Light theme", SUN),
          theme(m, "dark", "Dark theme", MOON),
        ],
      ),
      ownButton(
        "btn q icon s push",
        "app.layer",
        "keys",
        [attr("aria-label", "Show shortcuts"), attr("title", "Show shortcuts")],
        [keyCap("?")],
      ),
    ],
  );
}

function theme(m: Model, name: string, label: string, drawing: string): Node {
  return ownButton(
    "btn q",
    "app.theme",
    name,
    [attr("aria-pressed", m.theme === name ? "true" : "false")],
    [icon(drawing), text(label)],
  );
}

export function logo(): Node {
  return el(
    "svg",
    [
      cls("logo"),
      attr("viewBox", "0 0 18 18"),
      attr("aria-hidden", "true"),
      flag("focusable", false),
    ],
    [el("path", [attr("d", "M2 3h4v12H2zM7 7h4v8H7zM12 5h4v10h-4z")], [])],
  );
}
