/** The bar over the list of jobs while some rows, or all jobs that match the query, are selected. */

import { button, keyedButton, ownButton } from "../../controls/button";
import { countedValue, valueText } from "../../controls/value";
import {
  actionsOnEvery,
  commandNamed,
  firstActionFor,
  isOfferedFor,
  JobAction,
  jobActionNamed,
} from "../../generated/commands";
import { isLocked } from "../../generated/conditions";
import { ListedJob } from "../../generated/records";
import { bulkBar } from "../../kit/list-view";
import { operationArg } from "../../kit/verb";
import { upper } from "../../lib/letters";
import { cls, el, leaf, Node, nothing, text } from "../../lib/node";
import { Model } from "../../model/model";
import { JobsList } from "./jobs-list";
import { JobRow } from "./row";

export function selectedJobs(page: JobsList): ListedJob[] {
  const rows = page.list.selected.values();
  const jobs: ListedJob[] = [];
  for (let i = 0; i < rows.length; i++) jobs.push((rows[i] as JobRow).job);
  return jobs;
}

/** Whether workers have locked all of these jobs; true for no jobs. */
export function areLocked(jobs: ListedJob[]): bool {
  for (let i = 0; i < jobs.length; i++) if (jobs[i].state !== "locked") return false;
  return true;
}

export function selectionBar(m: Model, page: JobsList): Node {
  const verbs: Node[] = [];
  if (page.list.every) {
    const names = verbsForEvery(page);
    const first = isLocked(page.bar.terms.condition) ? "" : names[0];
    for (let i = 0; i < names.length; i++) verbs.push(verb(page, names[i], first));
  } else {
    const jobs = selectedJobs(page);
    const isEveryLocked = areLocked(jobs);
    const again = againOf(jobs);
    const isFailed = countFailed(jobs) === jobs.length;
    // The order is the same as for all matches, so that buttons stay in place when all matches are selected.
    for (let i = 0; i < actionsOnEvery.length; i++) {
      const action = actionsOnEvery[i];
      const name = action.name;
      if (!commandNamed(name).suits(jobs)) continue;
      if (isFailed && !isOfferedFor(action.selected, true)) continue;
      // An action that does not reach running jobs would skip all selected jobs.
      if (isEveryLocked && !action.reachesRunning) continue;
      const node = verb(page, name, again);
      if (name === again) verbs.unshift(node);
      else verbs.push(node);
    }
  }
  return bulkBar(m, page, all(m, page), verbs);
}

function all(m: Model, page: JobsList): Node {
  const total = page.total(m);
  if (page.list.every) {
    const jobs = total === null ? "jobs" : countedValue(total, "job", "jobs");
    return leaf("b", "bulk-count", `All ${jobs} selected`);
  }
  if (!canSelectAll(page)) return nothing;
  return el(
    "span",
    [cls("row")],
    [
      ownButton(
        "all",
        "jobs.every",
        "",
        [],
        [text(total === null ? "Select all matches" : `Select all ${valueText(total)}`)],
      ),
    ],
  );
}

export function canSelectAll(page: JobsList): bool {
  return page.bar.terms.fault === null && page.list.rows.length > 0;
}

/** Returns the names of the actions on all matches that the current tab offers. */
export function verbsForEvery(page: JobsList): string[] {
  const condition = page.bar.terms.condition;
  const names: string[] = [];
  for (let i = 0; i < actionsOnEvery.length; i++) {
    const action = actionsOnEvery[i];
    if (!isOfferedFor(action.every, condition === "failed")) continue;
    if (action.reachesRunning || !isLocked(condition)) names.push(action.name);
  }
  return names;
}

/** Returns the name of the action that makes the jobs run soon: retry if any job has failed, run-now if none has. */
export function againOf(jobs: ListedJob[]): string {
  const action = firstActionFor(countFailed(jobs) > 0 ? "failed" : "retrying");
  return action === null ? "" : action.name;
}

function countFailed(jobs: ListedJob[]): i32 {
  let count = 0;
  for (let i = 0; i < jobs.length; i++) if (jobs[i].state === "failed") count++;
  return count;
}

/** Returns the action that opens the dialog of `name`: `ask.operation` if all matches are selected. */
export function dialogFor(page: JobsList, name: string): string {
  return page.list.every ? "ask.operation" : "ask." + name;
}

/** Returns the argument for dialogFor(). `id>0` replaces an empty query, which the server would reject. */
export function aboutOf(page: JobsList, name: string): string {
  if (!page.list.every) return "";
  return operationArg(name, page.query.trim().length > 0 ? page.query : "id>0");
}

/** `first`: the most likely action. Its button is prominent and shows its key. */
function verb(page: JobsList, name: string, first: string): Node {
  const isFirst = name === first;
  const jobAction = jobActionNamed(name) as JobAction;
  const key = isFirst || jobAction.hasListKey ? upper(jobAction.command.key) : "";
  const words = jobAction.command.verb + "…";
  const kind = isFirst ? "p" : "";
  const action = dialogFor(page, name);
  const about = aboutOf(page, name);
  return key.length > 0
    ? keyedButton(words, key, action, about, kind)
    : button(words, action, about, kind);
}
