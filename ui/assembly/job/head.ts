/** The head of a job: links, task, condition, actions, and a note if the job no longer exists. */
import { ago } from "../controls/age";
import {
  button,
  copyButton,
  iconButton,
  keyCap,
  link,
  offButton,
  ownButton,
} from "../controls/button";
import { note } from "../controls/empty";
import { capital, state } from "../controls/glyph";
import { DOTS, DOWN, INFO, icon, UP } from "../controls/icon";
import { menu } from "../controls/menu";
import { crumbs, heading } from "../controls/panel";
import { actionsOnOne, firstActionFor, isOfferedFor, JobAction } from "../generated/commands";
import { isLocked } from "../generated/conditions";
import { Fix, ListedJob } from "../generated/records";
import { verbButton } from "../kit/verb";
import { upper } from "../lib/letters";
import { box, leaf, Node, nothing, text } from "../lib/node";
import { conditionPath, jobPath } from "../model/links";
import { Model } from "../model/model";
import { Shortcut } from "../model/shortcut";
import { isHopeless, repairOf, rootOf } from "./command";
import { JobView } from "./job-view";

const GROUP = "This job";

/**
 * Returns the row above the head: links such as `Jobs / Failed`, and the job's place in the list that was shown last.
 */
export function crumbRow(m: Model, view: JobView): Node {
  const condition = view.condition;
  const links = [link(m.shared.listPath, "", [text("Jobs")])];
  if (condition.length > 0 && !view.ended) {
    links.push(leaf("span", "", "/"));
    links.push(link(conditionPath(condition), "", [text(capital(condition))]));
  }
  return box("div", "crumb-row", [crumbs(links), neighbours(m, view)]);
}

function neighbours(m: Model, view: JobView): Node {
  const at = m.shared.placeOf(view.id);
  const all = m.shared.listIds.length;
  if (at < 0 || all < 2) return nothing;
  return box("span", "row only-wide neighbours", [
    leaf("span", "faint small", m.shared.placeText(at)),
    at > 0 ? iconButton(UP, "Previous job (k)", "job.before", "") : nothing,
    at + 1 < all ? iconButton(DOWN, "Next job (j)", "job.next", "") : nothing,
  ]);
}

/** If the job is shown beside a list (`beside`), the title is an `h2`, because the list's page has the `h1`. */
export function jobHead(m: Model, view: JobView, job: ListedJob, beside: bool): Node {
  const task = job.taskIdentifier;
  const name = task === null ? "(no task)" : task;
  const id = job.id.toString();
  const title = beside
    ? box("h2", "job-title", [link(jobPath(job.id), "", [text(name)])])
    : heading([text(name)]);
  return box("div", "head1 job-head", [
    box("div", "title-row", [
      title,
      box("span", "id", [text("#" + id), copyButton("id", id)]),
      view.ended ? leaf("span", "st faint", "Ended") : state(view.condition),
    ]),
    box("div", "acts verbs", [
      primary(m, view),
      m.access.canWrite && !beside
        ? button("Duplicate…", "job.duplicate", "", "only-wide")
        : nothing,
      moreActions(m, view, job),
    ]),
  ]);
}

/** The button of the job's main action. */
function primary(m: Model, view: JobView): Node {
  const root = repair(view);
  if (root !== null) return verbButton(m, root, "p");
  const first = primaryAction(view);
  if (first === null || !m.access.canWrite || isHopeless(view.why)) return nothing;
  const label = first.command.verb + "…";
  const kind = first.needsNoInput ? "p" : "";
  if (m.live.isStale(m.now)) {
    return offButton(label, kind);
  }
  return keyed(label, upper(first.command.key), "ask." + first.name, "shown", "btn " + kind);
}

function primaryAction(view: JobView): JobAction | null {
  return view.ended ? null : firstActionFor(view.condition);
}

/** Returns the action that repairs the root cause; null if there is none, or if primaryAction() is the same action. */
function repair(view: JobView): Fix | null {
  return view.ended ? null : repairOf(rootOf(view.why), view.condition);
}

function moreActions(m: Model, view: JobView, job: ListedJob): Node {
  const items: Node[] = [];
  const list = jobShortcuts(m, view);
  const isFirst = repair(view) === null && !isHopeless(view.why);
  const first = isFirst ? primaryAction(view) : null;
  const firstName = first === null ? "" : first.name;
  for (let i = 0; i < list.length; i++) {
    const shortcut = list[i];
    if (
      shortcut.action === "ask." + firstName ||
      shortcut.action === "job.next" ||
      shortcut.action === "job.before"
    ) {
      continue;
    }
    const cap = shortcut.keys.length === 1 ? upper(shortcut.keys) : "";
    items.push(keyed(shortcut.label, cap, shortcut.action, shortcut.arg, "btn q"));
  }
  const key = job.key;
  if (key !== null && m.access.canWrite && !view.ended) {
    items.push(button("Remove by key…", "ask.remove", key, "q"));
  }
  return menu("More actions", [icon(DOTS)], items);
}

function keyed(label: string, cap: string, action: string, arg: string, name: string): Node {
  const words = leaf("span", "", label);
  return ownButton(name, action, arg, [], [words, cap.length > 0 ? keyCap(cap) : nothing]);
}

/** Returns the actions on the job, for its menu, the keys and the palette. */
export function jobShortcuts(m: Model, view: JobView): Shortcut[] {
  const list: Shortcut[] = [];
  const canWrite = m.access.canWrite && !m.live.isStale(m.now);
  if (view.job === null) return list;
  if (canWrite && !view.ended) addActions(list, view);
  if (canWrite) add(list, "d", "Duplicate…", "job.duplicate", "");
  add(list, "c", "Copy link", "job.copy-link", "");
  add(list, "y", "Copy command", "job.copy-command", "");
  add(list, "", "Copy as worker add", "job.copy-add", "");
  add(list, "", "Copy as JSON", "job.copy-json", "");
  const at = m.shared.placeOf(view.id);
  if (at >= 0 && at + 1 < m.shared.listIds.length) add(list, "j", "Next job", "job.next", "");
  if (at > 0) add(list, "k", "Previous job", "job.before", "");
  return list;
}

function add(list: Shortcut[], keys: string, label: string, action: string, arg: string): void {
  list.push(new Shortcut(keys, label, action, arg, GROUP));
}

/** A locked job gets only its most likely action and the actions that also reach running jobs. */
function addActions(list: Shortcut[], view: JobView): void {
  const first = primaryAction(view);
  addMatching(list, view, first, true);
  if (first === null) return;
  addAction(list, first, first.command.key);
  if (!isLocked(view.condition)) addMatching(list, view, first, false);
}

function addMatching(
  list: Shortcut[],
  view: JobView,
  first: JobAction | null,
  isForRunning: bool,
): void {
  for (let i = 0; i < actionsOnOne.length; i++) {
    const action = actionsOnOne[i];
    if (action === first || action.reachesRunning !== isForRunning) continue;
    if (!isOfferedFor(action.one, view.condition === "failed")) continue;
    // Retry and run-now have the same key. The most likely action gets the key.
    const isTaken = first !== null && first.command.key === action.command.key;
    addAction(list, action, isTaken ? "" : action.command.key);
  }
}

function addAction(list: Shortcut[], action: JobAction, keys: string): void {
  add(list, keys, action.command.verb + "…", "ask." + action.name, "shown");
}

/** The note that the job no longer exists, with the reason if a receipt was found. */
export function endedNote(m: Model, view: JobView): Node {
  if (!view.ended) return nothing;
  const entry = view.receipt;
  let how = `It finished or was removed; noticed ${ago(view.endedAt, m.times)}`;
  if (entry !== null) {
    const by = entry.by;
    how = `${entry.message}, ${ago(entry.at, m.times)}${by === null ? "" : ` by ${by}`}`;
  }
  return note("info", [
    icon(INFO),
    leaf("b", "", "This job no longer exists."),
    leaf("span", "", how + ". Showing its last state."),
  ]);
}
