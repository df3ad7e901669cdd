/** The page of jobs: tabs, filters, what can be done with the chosen ones, the table, the pager. */
import { button, offButton } from "../../controls/button";
import { empty, loading, problem } from "../../controls/empty";
import { pageHead } from "../../controls/panel";
import { relative } from "../../controls/when";
import { askButton, commandsFor } from "../../forms/command-buttons";
import { Attr, attr, box, cls, el, leaf, Node, nothing, text } from "../../lib/node";
import { counted, grouped } from "../../lib/number";
import { Model } from "../../model/model";
import { countOf, STATES } from "../../records/stats";
import { Filter, jobsPath } from "./filter";
import { jobsFilter } from "./filters";
import { JobListModel } from "./model";
import { jobsTable } from "./table";

export function jobsView(m: Model, list: JobListModel): Node {
  return box("div", "jobs-page", [
    pageHead("Jobs", m.access.canWrite ? additions() : []),
    stateTabs(m, list.filter),
    jobsFilter(m, list),
    list.selected.size > 0 && m.access.canWrite ? bulkBar(list) : statusBar(m, list),
    list.error.length > 0 ? problem(list.error) : nothing,
    body(m, list),
    list.loaded ? pager(list) : nothing,
  ]);
}

function additions(): Node[] {
  return [button("Remove by key…", "ask.remove", "", "q"), button("Add a job", "ask.add", "", "p")];
}

function stateTabs(m: Model, filter: Filter): Node {
  const tabs: Node[] = [];
  for (let i = 0; i < STATES.length; i++) {
    const state = STATES[i];
    const to = filter.copy();
    to.state = state;
    const attrs: Attr[] = [attr("href", "#" + jobsPath(to, "")), cls("tab " + state)];
    if (filter.state === state) attrs.push(attr("aria-current", "page"));
    // The counts know nothing of the other filters.
    const count =
      m.overviewLoaded && !filter.narrow
        ? leaf("span", "tab-count", grouped(countOf(m.overview.stats, state)))
        : nothing;
    tabs.push(el("a", attrs, [leaf("span", "tab-name", state), count]));
  }
  return el("nav", [cls("tabs"), attr("aria-label", "States")], tabs);
}

function body(m: Model, list: JobListModel): Node {
  if (!list.loaded) return list.error.length > 0 ? nothing : loading();
  if (list.jobs.length > 0) return jobsTable(m, list);
  if (list.nextCursor.length > 0) {
    return empty("Nothing found so far", "The search rests to spare the database. Next goes on.");
  }
  if (list.hasPrevious) return empty("This page is empty", "Its jobs are done or were removed.");
  if (list.filter.narrow) return empty("No job matches", "Try fewer filters or another state.");
  return list.filter.state === "all"
    ? empty("The queue is empty", "A job that is added stands here until it is done.")
    : empty(`No ${list.filter.state} jobs`, meaning(list.filter));
}

function meaning(filter: Filter): string {
  if (filter.state === "ready") return "A ready job may run as soon as a worker is free.";
  if (filter.state === "scheduled") return "A scheduled job waits for its time.";
  if (filter.state === "locked") return "A locked job is being run by a worker.";
  return "A failed job has no attempts left.";
}

function bulkBar(list: JobListModel): Node {
  const count = list.selected.size;
  const buttons = [leaf("strong", "bulk-count", `${counted(count, "job", "jobs")} chosen`)];
  const offered = commandsFor(list.chosen());
  for (let i = offered.length - 1; i >= 0; i--) buttons.push(askButton(offered[i], "s"));
  buttons.push(button("Clear", "jobs.select-none", "", "q s"));
  return el(
    "div",
    [cls("bar bulk-old"), attr("role", "group"), attr("aria-label", "Chosen jobs")],
    buttons,
  );
}

function statusBar(m: Model, list: JobListModel): Node {
  const fresh = list.loaded ? `updated ${relative(list.fetchedAt, m.now)}` : "";
  return el(
    "div",
    [cls("bar")],
    [
      leaf("span", "bar-text", extent(m, list)),
      list.changes > 0
        ? button(counted(list.changes, "change", "changes") + " · Show", "jobs.show", "", "s")
        : nothing,
      leaf("span", "bar-text faint", list.loading ? "loading…" : fresh),
      button("Refresh", "jobs.refresh", "", "q s"),
      el(
        "button",
        [
          attr("type", "button"),
          cls("btn s q"),
          attr("data-click", "jobs.pause"),
          attr("aria-pressed", list.paused ? "true" : "false"),
        ],
        [text(list.paused ? "Paused" : "Pause")],
      ),
    ],
  );
}

/** Which rows these are, as far as it is known: `101–200 of 1,234 jobs`. */
function extent(m: Model, list: JobListModel): string {
  const size = list.jobs.length;
  if (!list.loaded || size === 0) return "";
  const page = list.pageNumber;
  if (page === 1 && list.nextCursor.length === 0) return counted(size, "job", "jobs");
  let rows = counted(size, "job", "jobs");
  if (page > 0) {
    const first = <i64>(page - 1) * 100 + 1;
    rows = `${grouped(first)}–${grouped(first + size - 1)}`;
  }
  if (list.filter.narrow || !m.overviewLoaded) return rows;
  return `${rows} of ${grouped(countOf(m.overview.stats, list.filter.state))}`;
}

function pager(list: JobListModel): Node {
  if (!list.hasPrevious && list.nextCursor.length === 0) return nothing;
  const back = list.trail.length > 1 ? "Previous" : "First page";
  return el(
    "nav",
    [cls("pager"), attr("aria-label", "Pages of the list")],
    [
      list.hasPrevious
        ? button(back, "jobs.previous", "", "")
        : offButton("Previous", "This is the first page.", ""),
      leaf("span", "pager-text", list.pageNumber > 0 ? `Page ${grouped(list.pageNumber)}` : ""),
      list.nextCursor.length > 0
        ? button("Next", "jobs.next", "", "")
        : offButton("Next", "This is the last page.", ""),
    ],
  );
}
