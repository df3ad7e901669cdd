/** Entries that the palette offers on every page: other pages' actions, actions on incidents and limits, and links. */
import { ALERT, BUG, GAUGE } from "../controls/icon";
import { countedValue } from "../controls/value";
import { commands, jobActions, withJobs } from "../generated/commands";
import { Value } from "../generated/records";
import { incidentPath } from "../kit/incident-row";
import { verbArg } from "../kit/verb";
import { conditionPath, limitPath } from "../model/links";
import { Model } from "../model/model";
import { Shortcut } from "../model/shortcut";
import { limitKeys } from "../operations/limiting";
import { ALL, isPaused, pauseShortcut } from "../operations/pausing";

const GROUP = "Everywhere";

export function actionsElsewhere(m: Model): Shortcut[] {
  const list = [
    goTo("Undo an operation…", "/activity"),
    new Shortcut("", "Dark theme", "app.theme", "dark", GROUP),
    new Shortcut("", "Light theme", "app.theme", "light", GROUP),
    new Shortcut("", "System theme", "app.theme", "system", GROUP),
  ];
  // The page of jobs has an export of its own, for its current query.
  if (m.page.name !== "jobs") list.push(goTo("Export jobs…", "/jobs"));
  if (!m.access.canWrite) return list;
  if (!isPaused(m, ALL)) list.push(pauseShortcut(ALL, false, "", GROUP));
  list.push(goTo("Pause a task…", "/tasks"));
  list.push(goTo("Unlock a worker…", "/workers"));
  for (let i = 0; i < jobActions.length; i++) {
    const first = jobActions[i].firstFor;
    const label = withJobs(jobActions[i].ask, "jobs") + "…";
    list.push(goTo(label, first.length > 0 ? conditionPath(first[0]) : "/jobs"));
  }
  for (let i = 0; i < commands.length; i++) {
    const command = commands[i];
    const dialog = command.dialog;
    // Commands without a title are left out, because they need jobs or a worker. Commands with the dialogs `add` and
    // `remove` are left out, because shortcuts() in keys.ts already has entries for them.
    if (command.title.length === 0 || dialog === "add" || dialog === "remove") continue;
    const label = command.title + "…";
    if (dialog === "sweep" || dialog === "limit" || command.name === "schedule-add")
      list.push(new Shortcut("", label, "ask." + command.name, "", GROUP));
    else list.push(goTo(label, placeOf(command.path)));
  }
  return list;
}

/** Returns the address of the page that offers a command. `path`: the path of the command's request. */
function placeOf(path: string): string {
  if (path.endsWith("pauses")) return "/queues";
  if (path.endsWith("schedules")) return "/cron";
  return path.endsWith("limits") ? "/limits" : "/maintenance";
}

function goTo(label: string, path: string): Shortcut {
  return new Shortcut("", label, "app.go", path, GROUP);
}

/** Returns the actions that incidents offer; if `goes` is true, links to the incidents' jobs or workers instead. */
export function incidentActions(m: Model, goes: bool): Shortcut[] {
  const list: Shortcut[] = [];
  const all = m.facts.incidents.incidents;
  for (let i = 0; i < all.length; i++) {
    const title = all[i].title;
    const verb = all[i].fix;
    const path = incidentPath(all[i]);
    const jobs = jobsIn(all[i].affected);
    if (goes && path.length > 0) {
      list.push(new Shortcut("", title, "app.go", path, "Go to", BUG, jobs));
    } else if (!goes && verb !== null && m.access.canWrite) {
      const label = `${verb.label} · ${title}`;
      list.push(new Shortcut("", label, "ask.verb", verbArg(verb), "Issues", ALERT, jobs));
    }
  }
  return list;
}

/** Returns the actions on each limit. */
export function limitActions(m: Model): Shortcut[] {
  const all = m.facts.limits;
  let list: Shortcut[] = [];
  for (let i = 0; i < all.length && m.access.canWrite; i++) {
    list = list.concat(limitKeys(all[i], "", "Actions"));
  }
  return list;
}

/** Returns the links to the limits. */
export function limitPages(m: Model): Shortcut[] {
  const list: Shortcut[] = [];
  const all = m.facts.limits;
  for (let i = 0; i < all.length; i++) {
    const name = all[i].name;
    list.push(new Shortcut("", "Limit " + name, "app.go", limitPath(name), "Go to", GAUGE));
  }
  return list;
}

/** Returns a text such as `8,412 jobs`; empty if the count is 0 or unknown. */
export function jobsIn(count: Value): string {
  return count.value > 0 ? countedValue(count, "job", "jobs") : "";
}
