/** The filters over the list of jobs; what is typed goes into the address after a moment. */
import { Model } from "../app/model";
import { attr, cls, el, flag, Node, nothing } from "../lib/node";
import { button } from "./controls";

/** A list of suggestions longer than this helps nobody. */
const MOST_SUGGESTIONS = 200;

export function jobsFilter(m: Model): Node {
  const list = m.jobs;
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
      list.filter.narrow ? button("Clear filters", "jobs.clear", "", "quiet") : nothing,
      suggestions("known-tasks", tasks(m)),
      suggestions("known-queues", queues(m)),
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

export function suggestions(id: string, values: string[]): Node {
  const options: Node[] = [];
  for (let i = 0; i < values.length; i++) {
    options.push(el("option", [attr("value", values[i])], []));
  }
  return el("datalist", [attr("id", id)], options);
}

/** The tasks seen so far: the API has no list of them. */
export function tasks(m: Model): string[] {
  const seen = new Set<string>();
  for (let i = 0; i < m.jobs.jobs.length && seen.size < MOST_SUGGESTIONS; i++) {
    const task = m.jobs.jobs[i].taskIdentifier;
    if (task !== null) seen.add(task);
  }
  for (let i = 0; i < m.failing.length; i++) {
    const task = m.failing[i].taskIdentifier;
    if (task !== null) seen.add(task);
  }
  return seen.values().sort();
}

export function queues(m: Model): string[] {
  const names: string[] = [];
  const known = m.overview.queues;
  for (let i = 0; i < min(known.length, MOST_SUGGESTIONS); i++) names.push(known[i].queueName);
  return names;
}
