/** Draws the page of jobs. */

import { queryBar } from "../../bar/bar-view";
import { jobsPath, taskTarget } from "../../bar/terms";
import { button, drawnButton, iconButton, link } from "../../controls/button";
import { empty, emptyWith } from "../../controls/empty";
import { CLOSE, DOTS, icon, PLUS } from "../../controls/icon";
import { menu } from "../../controls/menu";
import { pageHeadWith } from "../../controls/panel";
import { linkedPart, segments } from "../../controls/tabs";
import { countedValue } from "../../controls/value";
import { conditionNamed } from "../../generated/conditions";
import { Value } from "../../generated/records";
import { jobBeside } from "../../job/beside";
import { jobView } from "../../job/job-view";
import { listView, newsPill } from "../../kit/list-view";
import { attr, box, cls, el, leaf, Node, nothing, text } from "../../lib/node";
import { countText } from "../../lib/number";
import { queryPath } from "../../model/links";
import { Model } from "../../model/model";
import { limitsOf, setButton } from "../../operations/limiting";
import { isPaused, pauseButton } from "../../operations/pausing";
import { limitLines } from "../../parts/limit";
import { exportMenu, shownColumns } from "./export";
import { GroupedJobs } from "./grouped-jobs";
import { GROUPINGS, Grouping, MAX_GROUPS } from "./groups";
import { SIZES } from "./jobs-list";
import { selectionBar } from "./selection";
import { conditionTabs, sortWords } from "./tabs";

export function jobsView(m: Model, page: GroupedJobs): Node {
  const terms = page.bar.terms;
  const isOpen = page.opened.length > 0;
  const order = page.isGrouped ? "largest group first" : sortWords(page.sorted, terms.condition);
  return box("div", isOpen ? "split open" : "split", [
    box("div", page.settings.has("compact") ? "jobs-page compact" : "jobs-page", [
      pageHeadWith("Jobs", order, additions(m, page)),
      conditionTabs(m, terms, page.groups.by, tabTotal(m, page)),
      queryBar(page.bar),
      meta(m, page),
      limitLines(limitsOf(m, taskTarget(terms)), -1),
      listView(m, page, "Jobs", none(m, page)),
      selectionBar(m, page),
    ]),
    isOpen ? jobBeside(m, jobView, page.name) : nothing,
  ]);
}

/**
 * Returns the number of jobs that match the query; null: unknown. Groups by error or by queue lack the jobs without an
 * error or without a named queue.
 */
function tabTotal(m: Model, page: GroupedJobs): Value | null {
  if (!page.rows.ready || page.isTurning(m)) return null;
  if (page.isGrouped) return page.groups.by === "task" ? page.groups.answer.of : null;
  return page.total(m);
}

function additions(m: Model, page: GroupedJobs): Node[] {
  if (!m.access.canWrite) return [];
  const task = taskTarget(page.bar.terms);
  return [
    task.length > 0 ? pauseButton(m, task, isPaused(m, task), "") : nothing,
    addButton(m),
    menu(
      "More actions",
      [icon(DOTS)],
      [
        task.length > 0 ? setButton(m, "Set limit…", task, "q") : nothing,
        button("Remove by key…", "ask.remove", "", "q"),
      ],
    ),
  ];
}

function addButton(m: Model): Node {
  return m.access.canWrite ? drawnButton(PLUS, "Add a job…", "ask.add", "") : nothing;
}

function meta(m: Model, page: GroupedJobs): Node {
  const isOn = page.isSearching(m);
  const count = page.total(m);
  const rows = page.list.rows.length;
  const isQuery = page.bar.terms.fault === null;
  const data = page.rows;
  const isKnown = isQuery && data.ready && data.error.length === 0 && !page.isTurning(m);
  return box("div", "meta", [
    isKnown && page.isGrouped
      ? leaf("b", "", groupsText(page.groups))
      : isKnown && count !== null
        ? leaf("b", "", countedValue(count, "job", "jobs"))
        : isKnown && rows > 0 && !isOn
          ? leaf("b", "", countText(rows, "job here", "jobs here"))
          : nothing,
    isQuery && page.bar.fault !== null ? text("for the previous query") : nothing,
    page.search.view(m, isOn, page.requestedAt(m)),
    newsPill(page),
    box("span", "right", [
      groupings(page),
      viewsMenu(m, page),
      page.settings.view(sizes(page)),
      exportMenu(m, exportedColumns(page)),
    ]),
  ]);
}

/** Returns the columns that the list shows; empty if it shows groups. */
export function exportedColumns(page: GroupedJobs): string {
  return page.isGrouped ? "" : shownColumns(page.settings, page.bar.terms.condition);
}

/** Returns a text such as `12,000 jobs with an error in 3 groups`. */
function groupsText(groups: Grouping): string {
  const answer = groups.answer;
  const by = groups.by;
  const count = answer.groups.length;
  const jobs =
    countedValue(answer.of, "job", "jobs") +
    (by === "error" ? " with an error" : by === "queue" ? " with a queue" : "");
  return count >= MAX_GROUPS
    ? `${jobs}: the ${count} largest groups`
    : `${jobs} in ${countText(count, "group", "groups")}`;
}

function groupings(page: GroupedJobs): Node {
  const parts = [linkedPart("List", jobsPath(page.query, ""), !page.isGrouped)];
  for (let i = 0; i < GROUPINGS.length; i++) {
    const by = GROUPINGS[i];
    parts.push(linkedPart("By " + by, jobsPath(page.query, by), page.groups.by === by));
  }
  return segments("Group by", parts);
}

/** The switch for the number of jobs on a page. A grouped list has no pages. */
function sizes(page: GroupedJobs): Node {
  if (page.isGrouped) return nothing;
  const parts: Node[] = [];
  for (let i = 0; i < SIZES.length; i++) {
    const size = SIZES[i];
    const path = page.address.with("size", size === SIZES[1] ? "" : size);
    parts.push(linkedPart(size + " rows", path, page.size === size));
  }
  return segments("Rows on a page", parts);
}

function viewsMenu(m: Model, page: GroupedJobs): Node {
  const items: Node[] = [];
  const all = m.views.all;
  const own = m.views.own.length;
  for (let i = 0; i < all.length; i++) {
    const name = all[i].name;
    items.push(
      box("div", "row", [
        link(all[i].path, "btn q", [leaf("span", "cut", name)]),
        i < own ? iconButton(CLOSE, `Delete the view ${name}`, "jobs.drop-view", name) : nothing,
      ]),
    );
  }
  const path = page.viewPath;
  if (path !== page.path && m.views.nameOf(path).length === 0) items.push(saveForm(page));
  return menu("Saved views", [text("Views")], items);
}

function saveForm(page: GroupedJobs): Node {
  return el(
    "form",
    [cls("row save-view"), attr("data-submit", "jobs.save-view")],
    [
      el(
        "input",
        [
          attr("id", "view-name"),
          cls("input"),
          attr("aria-label", "Name of this view"),
          attr("placeholder", "Name of this view"),
          attr("autocomplete", "off"),
          attr("maxlength", "60"),
          attr("data-input", "jobs.view-name"),
          attr("value", page.viewName),
        ],
        [],
      ),
      el("button", [attr("type", "submit"), cls("btn s")], [text("Save")]),
    ],
  );
}

/** The content of a list without rows: the reason, and what to do. */
function none(m: Model, page: GroupedJobs): Node {
  const terms = page.bar.terms;
  const chips = terms.chips.length;
  if (page.isSearching(m) || terms.fault !== null) return nothing;
  if (!page.search.isComplete)
    return emptyWith("No match yet", "Search paused to limit database load.", [
      button("Continue", "jobs.go-on", "", ""),
    ]);
  if (page.isGrouped) {
    const flat = jobsPath(page.query, "");
    const why = withoutGroup(page.groups.by);
    return empty("Nothing to group", why, flat, "Show the list");
  }
  if (page.address.value("cursor").length > 0) {
    const first = page.address.with("cursor", "");
    return empty(
      "No jobs left on this page",
      "They finished or were removed.",
      first,
      "First page",
    );
  }
  if (chips === 0) {
    if (terms.condition.length > 0)
      return empty(`No ${terms.condition} jobs`, meaning(terms.condition), "/jobs", "All jobs");
    return emptyWith(
      "No jobs",
      "Jobs appear here from the moment they are added until they succeed.",
      [addButton(m)],
    );
  }
  const all = chips + (terms.condition.length > 0 ? 1 : 0);
  const title =
    all === 1
      ? "No matches"
      : all === 2
        ? "No job matches both conditions"
        : `No job matches all ${all} conditions`;
  const unknown = page.search.unknown;
  const repairs: Node[] = [];
  const suggestions = page.search.suggestions;
  for (let i = 0; i < chips; i++) {
    for (let k = 0; k < suggestions.length; k++) {
      if (suggestions[k].term !== terms.chips[i].text) continue;
      const query = `${terms.without(i)} ${suggestions[k].use}`.trim();
      const kind = repairs.length > 0 ? "btn" : "btn p";
      repairs.push(
        link(jobsPath(query, page.groups.by), kind, [text("Use " + suggestions[k].use)]),
      );
    }
  }
  const most = repairs.length + 3;
  for (let i = 0; i < chips && repairs.length < most; i++) {
    const chip = terms.chips[i];
    if (unknown.length > 0 && !unknown.includes(chip.text)) continue;
    repairs.push(
      link(jobsPath(terms.without(i), page.groups.by), "btn", [text("Remove " + chip.text)]),
    );
  }
  repairs.push(link(queryPath(""), "btn q", [text("Clear all")]));
  return emptyWith(title, unknown.length > 0 ? "Not found: " + unknown.join(", ") : "", repairs);
}

function withoutGroup(by: string): string {
  if (by === "queue") return "None of these jobs is in a named queue.";
  return by === "error" ? "None of these jobs has an error." : "No matches.";
}

function meaning(condition: string): string {
  const data = conditionNamed(condition);
  return data === null ? "" : data.meaning;
}
