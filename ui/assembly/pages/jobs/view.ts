/** The page of jobs: heading, tabs, query, how many there are, the list, what can be done with the chosen. */

import { queryBar } from "../../bar/bar-view";
import { jobsPath } from "../../bar/terms";
import { button, drawnButton, link } from "../../controls/button";
import { emptyWith } from "../../controls/empty";
import { PLUS } from "../../controls/icon";
import { pageHeadSaying } from "../../controls/panel";
import { countedValue } from "../../controls/value";
import { listView, newsPill } from "../../kit/list-view";
import { box, leaf, Node, nothing, text } from "../../lib/node";
import { queryPath } from "../../model/links";
import { Model } from "../../model/model";
import { chosenBar } from "./chosen";
import { exportMenu } from "./export";
import { JobsList } from "./jobs-list";
import { conditionTabs, sortWords } from "./tabs";

export function jobsView(m: Model, page: JobsList): Node {
  const terms = page.bar.terms;
  return box("div", page.settings.has("compact") ? "jobs-page compact" : "jobs-page", [
    pageHeadSaying("Jobs", sortWords(page.sorted, terms.condition), additions(m)),
    conditionTabs(m, terms, ""),
    queryBar(page.bar),
    meta(m, page),
    listView(m, page, "Jobs", none(m, page)),
    chosenBar(m, page),
  ]);
}

function additions(m: Model): Node[] {
  if (!m.access.canWrite) return [];
  return [
    button("Remove by key…", "ask.remove", "", "q"),
    drawnButton(PLUS, "Add a job", "ask.add", "", ""),
  ];
}

function meta(m: Model, page: JobsList): Node {
  const isOn = page.isSearching(m);
  const count = page.total(m);
  const rows = page.list.rows.length;
  const isKnown = page.rows.ready && !page.isTurning(m);
  return box("div", "meta", [
    isKnown && count !== null
      ? leaf("b", "", countedValue(count, "job", "jobs"))
      : isKnown && rows > 0 && !isOn
        ? leaf("b", "", rows === 1 ? "1 job here" : `${rows} jobs here`)
        : nothing,
    page.search.view(m, isOn, page.askedAt(m)),
    newsPill(page),
    box("span", "right", [page.settings.view(), exportMenu(m, page.query)]),
  ]);
}

/** Says which condition leaves nothing, and offers to drop it. */
function none(m: Model, page: JobsList): Node {
  const terms = page.bar.terms;
  const chips = terms.chips.length;
  if (page.isSearching(m)) return nothing;
  if (!page.search.isComplete)
    return emptyWith("Nothing found so far", "The search rests, to spare the database.", [
      button("Go on", "jobs.go-on", "", ""),
    ]);
  if (page.address.value("cursor").length > 0) {
    const first = link(page.address.with("cursor", ""), "btn", [text("To the first page")]);
    return emptyWith("This page is empty", "Its jobs are done, or were removed.", [first]);
  }
  if (chips === 0) {
    if (terms.condition.length > 0)
      return emptyWith(`No ${terms.condition} jobs`, meaning(terms.condition), []);
    return emptyWith("There are no jobs", "A job that is added stands here until it is done.", []);
  }
  const all = chips + (terms.condition.length > 0 ? 1 : 0);
  const title =
    all === 1
      ? "No job matches"
      : all === 2
        ? "No job matches both conditions"
        : `No job matches all ${all} conditions`;
  const unknown = page.search.unknown;
  const repairs: Node[] = [];
  for (let i = 0; i < chips && repairs.length < 3; i++) {
    const chip = terms.chips[i];
    if (unknown.length > 0 && !unknown.includes(chip.text)) continue;
    repairs.push(link(jobsPath(terms.without(i), ""), "btn", [text("Drop " + chip.text)]));
  }
  repairs.push(link(queryPath(""), "btn q", [text("Clear all")]));
  return emptyWith(
    title,
    unknown.length > 0 ? "Nothing has this name: " + unknown.join(", ") : "",
    repairs,
  );
}

function meaning(condition: string): string {
  if (condition === "ready") return "A ready job may run as soon as a worker is free.";
  if (condition === "blocked") return "A blocked job is due, and another one has its queue.";
  if (condition === "running") return "A running job is in the hands of a worker.";
  if (condition === "retrying") return "A retrying job has failed and is tried again.";
  if (condition === "scheduled") return "A scheduled job waits for its time.";
  return "A failed job has used up all its tries.";
}
