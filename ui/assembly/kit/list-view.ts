/** The parts of a page with a list, such as the table, the pager and the search field. */
import { ago } from "../controls/age";
import { button, check, link, ownButton } from "../controls/button";
import { empty } from "../controls/empty";
import { Attr, attr, box, cls, el, flag, key, leaf, Node, nothing, text } from "../lib/node";
import { countText, numberText } from "../lib/number";
import { Model } from "../model/model";
import { ListPage } from "./list-page";
import { Column, Row } from "./row";

const OLD_MS: f64 = 10000;
const KEYS = "ArrowDown ArrowUp Shift+ArrowDown Shift+ArrowUp Home End Space Enter Escape";
/** The number of placeholder rows while rows are loading. */
const SHAPES = 12;

/**
 * The table with its pager. If the rows are late, the table has placeholder rows. If a request fails, an error replaces
 * the table. In an outage, rows on screen stay. `none`: what is shown if there are no rows.
 */
export function listView(m: Model, page: ListPage, label: string, none: Node): Node {
  const data = page.rows;
  const waits = data.error.length === 0 && (data.ready ? page.isTurning(m) : data.isLate(m));
  if (!waits && (data.error.length > 0 || !data.ready)) return data.placeholder(m, 0);
  const list = page.list;
  if (!waits && list.rows.length === 0) return none;
  const isSelectable = page.isSelectable && m.access.canWrite;
  const columns = page.columns(m);
  const rows: Node[] = [];
  const count = waits ? SHAPES : list.rows.length;
  for (let i = 0; i < count; i++)
    rows.push(waits ? shape(i, columns, isSelectable) : rowView(m, page, i, isSelectable, columns));
  return el(
    "div",
    [cls("list-frame"), attr("data-hold", "")],
    [
      waits ? el("span", [cls("sr loading"), attr("role", "status")], [text("Loading")]) : nothing,
      el(
        "table",
        [
          cls("t rows " + page.name),
          attr("role", "grid"),
          attr("aria-label", label),
          attr("aria-multiselectable", isSelectable ? "true" : "false"),
          attr("data-key", page.name + ".key"),
          attr("data-keys", KEYS),
        ],
        [
          page.spanningHeads.length > 0 ? widths(columns, isSelectable) : nothing,
          head(page, columns, isSelectable),
          // Placeholder rows are in the foot, because the styles for hovering and selection apply to rows of the body.
          el("tbody", [], waits ? [] : rows),
          waits ? el("tfoot", [], rows) : nothing,
        ],
      ),
      waits ? nothing : pager(m, page),
    ],
  );
}

function shape(index: i32, columns: Column[], isSelectable: bool): Node {
  const cells: Node[] = isSelectable ? [leaf("td", "c-check", "")] : [];
  for (let i = 0; i < columns.length; i++)
    cells.push(box("td", columns[i].name, [leaf("span", "sk", "")]));
  return el("tr", [key(`…${index}`), cls("shape")], cells);
}

function head(page: ListPage, columns: Column[], isSelectable: bool): Node {
  const heads: Node[] = [];
  if (isSelectable) {
    const all = check(
      "Select all rows on this page",
      page.name + ".all",
      "",
      page.list.allSelected,
    );
    heads.push(el("th", [attr("scope", "col"), cls("c-check")], [all]));
  }
  for (let i = 0; i < columns.length; i++) heads.push(columnHead(page, columns[i]));
  const rows: Node[] = [];
  const above = page.spanningHeads;
  if (above.length > 0) rows.push(spanningHead(above, heads.length));
  if (above.length === 0 || hasColumnRows(page)) rows.push(el("tr", [], heads));
  return el("thead", [], rows);
}

function hasColumnRows(page: ListPage): bool {
  const rows = page.list.rows;
  for (let i = 0; i < rows.length; i++) if (!rows[i].spans) return true;
  return false;
}

/** The widths of the columns, for a table whose first row is one cell across all columns. */
function widths(columns: Column[], isSelectable: bool): Node {
  const list: Node[] = isSelectable ? [leaf("col", "c-check", "")] : [];
  for (let i = 0; i < columns.length; i++) list.push(leaf("col", columns[i].name, ""));
  return el("colgroup", [], list);
}

function spanningHead(above: Column[], span: i32): Node {
  const names: Node[] = [];
  for (let i = 0; i < above.length; i++) names.push(leaf("span", above[i].name, above[i].head));
  const attrs = [attr("scope", "col"), cls("whole"), attr("colspan", span.toString())];
  return el("tr", [], [el("th", attrs, [box("div", "grow", names)])]);
}

function columnHead(page: ListPage, column: Column): Node {
  const attrs: Attr[] = [attr("scope", "col"), cls(column.name)];
  if (column.sort.length === 0) return el("th", attrs, [text(column.head)]);
  const order = page.sorted;
  const isFirst = order === column.sort;
  const isReverse = order === column.reverse && order.length > 0;
  const next = isFirst && column.reverse.length > 0 ? column.reverse : column.sort;
  let name = "";
  let words = column.head;
  if ((isFirst || isReverse) && (page.rank.length === 0 || order !== page.usualSort)) {
    const isUp = !order.startsWith("-");
    attrs.push(attr("aria-sort", isUp ? "ascending" : "descending"));
    name = "sorted";
    words += isUp ? " ↑" : " ↓";
  }
  return el("th", attrs, [link(page.address.with("sort", next), name, [text(words)])]);
}

function rowView(
  m: Model,
  page: ListPage,
  index: i32,
  isSelectable: bool,
  columns: Column[],
): Node {
  const list = page.list;
  const row: Row = list.rows[index];
  const isSelected = list.isSelected(row.key);
  const isGone = list.gone.has(row.key);
  const attrs: Attr[] = [
    key(row.key),
    attr("id", page.rowId(row.key)),
    cls(
      (isSelected ? "sel " : "") +
        (isGone ? "gone " : "") +
        (page.opened === row.key ? "cur " : "") +
        row.tone,
    ),
    attr("tabindex", index === list.current ? "0" : "-1"),
    attr("data-arg", row.key),
  ];
  if (row.path.length > 0) attrs.push(attr("data-click", page.name + ".open"));
  if (row.spans) {
    const whole = attr("colspan", (columns.length + (isSelectable ? 1 : 0)).toString());
    return el("tr", attrs, [el("td", [cls("whole"), whole], row.cells(m))]);
  }
  if (isSelectable) attrs.push(attr("aria-selected", isSelected ? "true" : "false"));
  const cells: Node[] = [];
  if (isSelectable) {
    const box = check("Select " + row.name, page.name + ".pick", row.key, isSelected, false);
    cells.push(el("td", [cls("c-check")], [box]));
  }
  const own = row.cells(m);
  // On a narrow screen, most cells show the names of their columns (table.css). Shortly after a change of the tab, the
  // rows are still those of the previous tab, which may have other columns.
  for (let i = 0; i < own.length && own.length === columns.length; i++)
    own[i].attrs.push(attr("data-head", columns[i].head));
  return el("tr", attrs, cells.concat(own));
}

/**
 * Returns the number of rows and their order: `300, by severity`, or for a search `3 queues match, by severity`. An
 * order other than the usual order is left out. `usual`: the usual order in words.
 */
export function listCountText(page: ListPage, usual: string = page.rank): string {
  if (page.count === i64.MIN_VALUE || page.list.rows.length === 0) return "";
  const count =
    page.address.value("search").length > 0
      ? countText(page.count, page.one + " matches", page.many + " match")
      : numberText(page.count);
  return page.sorted === page.usualSort ? `${count}, ${usual}` : count;
}

/** The button `14 new · show`, which shows the new rows and hides the removed rows. */
export function newsPill(page: ListPage): Node {
  const list = page.list;
  if (!list.hasNews) return nothing;
  const words =
    list.news > 0
      ? `${numberText(list.news)} new · show`
      : `${countText(list.gone.size, "row", "rows")} removed · show`;
  return ownButton("pill", page.name + ".news", "", [], [text(words)]);
}

/** The search field. `what`: its label, such as `Find a queue by name`. */
export function searchBox(page: ListPage, what: string): Node {
  return el(
    "form",
    [cls("search"), attr("role", "search"), attr("data-submit", page.name + ".find")],
    [
      el("label", [cls("sr"), attr("for", page.searchField)], [text(what)]),
      el(
        "input",
        [
          attr("id", page.searchField),
          cls("input"),
          attr("type", "search"),
          attr("placeholder", what),
          attr("autocomplete", "off"),
          attr("maxlength", "256"),
          flag("spellcheck", false),
          attr("data-input", page.name + ".search"),
          attr("data-key", page.name + ".rows"),
          attr("data-keys", "ArrowDown Escape"),
          attr("value", page.searchDraft),
        ],
        [],
      ),
    ],
  );
}

function pager(m: Model, page: ListPage): Node {
  const list = page.list;
  const isFirst = page.address.value("cursor").length === 0;
  if (isFirst && list.next.length === 0) return nothing;
  return el(
    "nav",
    [cls("pager"), attr("aria-label", "Pages of the list")],
    [
      isFirst ? nothing : link(cursorPath(page, list.previous), "btn s", [text("Previous")]),
      leaf("span", "extent", page.extent(m) + readAgo(m, page)),
      list.next.length > 0 ? link(cursorPath(page, list.next), "btn s", [text("Next")]) : nothing,
    ],
  );
}

/** Returns `, read 24 s ago` if the rows are old (OLD_MS) and may have changed since they were read. */
function readAgo(m: Model, page: ListPage): string {
  const rows = page.rows;
  const isOld = m.now - rows.answeredAt >= OLD_MS && page.changedAt(m) > rows.answeredAt;
  return isOld ? `, read ${ago(rows.answeredAt + m.live.ahead, m.times)}` : "";
}

function cursorPath(page: ListPage, cursor: string): string {
  return page.address.with("cursor", cursor);
}

/** Shown if a search matches no row, with a link that clears the search. */
export function nothingFound(page: ListPage): Node {
  const searched = page.address.value("search");
  const all = page.address.with("search", "");
  return empty(`No ${page.many} match “${searched}”`, "", all, "Clear the search");
}

/**
 * The bar that floats over the page while rows are selected. `all`: shows that all matches are selected, or offers to
 * select them.
 */
export function bulkBar(m: Model, page: ListPage, all: Node, verbs: Node[]): Node {
  const count = page.list.selected.size;
  const every = page.list.every;
  if ((count === 0 && !every) || !m.access.canWrite) return nothing;
  return el(
    "div",
    [cls("bulk"), attr("role", "group"), attr("aria-label", `Selected ${page.many}`)],
    [
      every ? nothing : leaf("b", "bulk-count", `${numberText(count)} selected`),
      all,
      leaf("span", "sep", ""),
      box("span", "row", verbs),
      button("Clear", page.name + ".none", "", "q"),
    ],
  );
}
