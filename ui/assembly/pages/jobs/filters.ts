/** The filters over the list of jobs; what is typed goes into the address after a moment. */
import { button } from "../../controls/button";
import { suggestions } from "../../forms/field";
import { attr, cls, el, flag, Node, nothing } from "../../lib/node";
import { queueNames } from "../../model/known";
import { Model } from "../../model/model";
import { JobListModel } from "./model";

export function jobsFilter(m: Model, list: JobListModel): Node {
  return el(
    "form",
    [cls("filters"), attr("role", "search"), attr("data-submit", "jobs.filter")],
    [
      input("search", "Search", "Search  ( / )", list.searchDraft, "", 256),
      input(
        "identifier",
        "Task identifier",
        "Task identifier",
        list.identifierDraft,
        "known-tasks",
        128,
      ),
      input("queue", "Queue", "Queue", list.queueDraft, "known-queues", 128),
      list.filter.narrow ? button("Clear filters", "jobs.clear", "", "q") : nothing,
      suggestions("known-tasks", m.known.tasks()),
      suggestions("known-queues", queueNames(m.overview)),
    ],
  );
}

function input(
  name: string,
  label: string,
  hint: string,
  value: string,
  known: string,
  longest: i32,
): Node {
  return el(
    "input",
    [
      attr("id", "filter-" + name),
      cls("input " + name),
      attr("type", "search"),
      attr("aria-label", label),
      attr("placeholder", hint),
      attr("autocomplete", "off"),
      attr("maxlength", longest.toString()),
      flag("spellcheck", false),
      attr("data-input", "jobs." + name),
      attr("value", value),
      attr("list", known),
    ],
    [],
  );
}
